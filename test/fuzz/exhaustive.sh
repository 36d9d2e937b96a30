#!/usr/bin/env bash
# Every prefix of every file of a model or plan in the tests and samples, and of
# every seed of the fuzz targets, and every change of one bit in its header (of a
# seed in all of it), given to its reader:
#
#     bash test/fuzz/exhaustive.sh BUILD_DIR
#
# BUILD_DIR should have sanitizers (preset `asan`). Files run beside one another.
# The time grows with the square of a file's size, so a file of more than 1 MiB
# is an error: nothing is left out in silence.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$(cd "$1" && pwd)
most=$((1 << 20))
# Stacks of allocations cost most of an execution's time.
export ASAN_OPTIONS=${ASAN_OPTIONS:-}:malloc_context_size=0:quarantine_size_mb=4

work=$(mktemp -d)
seeds=$work/seeds
trap 'rm -rf "$work"' EXIT
python3 test/fuzz/seeds.py "$seeds" "$build/bin/gist-make-tiny-module"

# Target, bytes of the header, file.
list() {
  # Headers of the GGUF files have 3 KiB at most.
  for file in test/models/*.gguf; do echo Gguf 8192 "$file"; done
  for file in test/models/*/model.safetensors; do
    # The length of the header is in the first eight bytes.
    echo Safetensors $((8 + $(od -An -N8 -tu8 "$file"))) "$file"
  done
  for file in test/models/*/config.json; do echo Config "$most" "$file"; done
  for file in samples/*/plan*.json; do echo Plan "$most" "$file"; done
  for folder in "$seeds"/*; do
    for file in "$folder"/*; do echo "$(basename "$folder")" "$most" "$file"; done
  done
}

large=$(list | while read -r _ _ file; do find "$file" -size +"${most}c"; done)
if [ -n "$large" ]; then
  echo "more than $most bytes, which takes too long: $large" >&2
  exit 1
fi
export build
# The longest first; xargs fails when one of them does.
list | while read -r name header file; do
  echo "$(stat -c %s "$file") $name $header $file"
done | sort -rn | cut -d' ' -f2- | xargs -P "$(nproc)" -L 1 bash -c \
  'counts=$("$build/bin/Gist$0Fuzz" 0 --header="$1" "$2") && echo "$2: $counts"' |
  tee "$work/log"
awk -F': ' '{ split($3, counts, " "); n += counts[1] }
  END { print NR " files, " n " inputs" }' "$work/log"
