#!/usr/bin/env bash
# Gist on an x86-64 machine that is not this one: packs modules, kernels with the
# results they must give, and the runtime (its sources, or a gist-run that was
# built for x86-64 with --gist-run), and runs all of it there.
# Usage: x86.sh BUILD_DIR MODEL.gguf [--host HOST] [--gist-run PROGRAM]
#               [--output FILE.tgz]
# With --host, the archive is copied there by scp and run by ssh, and the table is
# printed here. Without, take the archive there yourself; it says how.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
[ $# -ge 2 ] || { sed -n '2,9s/^# //p' "$0" >&2; exit 2; }
build=$1 model=$2
shift 2
host= program= output=gist-x86.tgz
while [ $# -gt 0 ]; do
  case $1 in
  --host) host=$2 ;;
  --gist-run) program=$2 ;;
  --output) output=$2 ;;
  *) echo "x86.sh does not know the option $1" >&2; exit 2 ;;
  esac
  shift 2
done

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/gist-x86"
"${PYTHON:-python3}" "$here/x86.py" pack --build "$build" --model "$model" \
  ${program:+--gist-run "$program"} --output "$folder/gist-x86"
if [ -z "$program" ]; then
  git -C "$here/.." archive HEAD CMakeLists.txt cmake runtime passes tools \
    bench/roofline.cpp --prefix=gist-x86/source/ | tar -x -C "$folder"
fi
tar -czf "$output" -C "$folder" gist-x86
command='tar xzf gist-x86.tgz && python3 gist-x86/x86.py run'
if [ -z "$host" ]; then
  echo "Wrote $output. Copy it to the other machine as gist-x86.tgz, and there:"
  echo "  $command"
  exit
fi
scp -q "$output" "$host:gist-x86.tgz"
ssh "$host" "$command"
scp -q "$host:gist-x86/result.json" "${output%.tgz}.json"
scp -q "$host:gist-x86/right.json" "${output%.tgz}-right.json"
