#!/usr/bin/env bash
# Every prefix of every small model file of the tests (256 KiB at most), and every
# change of one bit in its header, given to its reader:
# bash test/fuzz/exhaustive.sh BUILD_DIR
# BUILD_DIR should have sanitizers (preset `asan`). Files run beside one another.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$(cd "$1" && pwd)

# Target, bytes of the header, file.
list() {
  for file in test/models/*.gguf; do echo Gguf 8192 "$file"; done
  for file in $(find test/models -name model.safetensors -size -256k); do
    # The length of the header is in the first eight bytes.
    echo Safetensors $((8 + $(od -An -N8 -tu8 "$file"))) "$file"
  done
  for file in test/models/*/config.json; do echo Config 65536 "$file"; done
  for file in $(find test/models -name tokenizer.json -size -64k); do
    echo TokenizerJson 65536 "$file"
  done
  for file in samples/*/plan*.json; do echo Plan 4096 "$file"; done
}

export build
list | xargs -P "$(nproc)" -L 1 bash -c \
  'echo "$2: $("$build/bin/Gist$0Fuzz" 0 --header="$1" "$2")"'
