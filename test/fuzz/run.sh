#!/usr/bin/env bash
# Runs every fuzz target for a time, and says what it executed and which lines of
# the readers were reached: bash test/fuzz/run.sh [SECONDS-PER-TARGET]
#
# Targets run beside one another, one on each core. What libFuzzer finds is left
# in build/fuzz/found, and the script fails; it fails too when the inputs and the
# unit tests of the readers together reach less than 90 % of a reader's lines.
# campaign.sh is for long runs on a large machine. Inputs that reach something new
# are kept in build/fuzz/corpus, and the next run begins with them.
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds=${1:-60}

for preset in fuzz coverage; do
  cmake --preset $preset >"build/$preset.log" 2>&1 &&
    cmake --build --preset $preset >>"build/$preset.log" 2>&1 ||
    { tail -20 "build/$preset.log"; exit 1; }
done

work=$PWD/build/fuzz
rm -rf "$work/seeds" "$work/found" "$work/logs"
mkdir -p "$work/found" "$work/logs"
python3 test/fuzz/seeds.py "$work/seeds" "$work/bin/gist-make-tiny-module"

fuzz() { # name
  mkdir -p "$work/corpus/$1"
  "$work/bin/Gist$1Fuzz" -max_total_time="$seconds" -max_len=8192 -timeout=10 \
    -rss_limit_mb=2048 -print_final_stats=1 -artifact_prefix="$work/found/$1-" \
    "$work/corpus/$1" "$work/seeds/$1" "test/fuzz/corpus/$1" >"$work/logs/$1" 2>&1
}
export -f fuzz
export work seconds
names=$(cd "$work/bin" && ls Gist*Fuzz | sed 's/^Gist//; s/Fuzz$//')
status=0
echo "$names" | xargs -P "$(nproc)" -I {} bash -c 'fuzz {}' || status=1
for name in $names; do
  executed=$(sed -n 's/^stat::number_of_executed_units: *//p' "$work/logs/$name")
  echo "$name: ${executed:-stopped, see $work/logs/$name} executions"
done

rm -f build/coverage/*.profraw
# Lines of the readers that the inputs reach, and the tests of what they refuse.
programs=()
for name in $names; do
  LLVM_PROFILE_FILE="build/coverage/$name.profraw" \
    "build/coverage/bin/Gist${name}Fuzz" 0 "$work/seeds/$name" \
    --once "test/fuzz/corpus/$name" "$work/corpus/$name" >/dev/null
  programs+=("build/coverage/bin/Gist${name}Fuzz")
done
for tests in Runtime Import Plan Linear Limits Serving; do
  program=build/coverage/bin/Gist${tests}Tests
  LLVM_PROFILE_FILE="build/coverage/$tests-%p.profraw" "$program" --gtest_brief=1 || status=1
  programs+=("$program")
done
llvm-profdata-22 merge --failure-mode=all -o build/coverage/all.profdata build/coverage/*.profraw
python3 test/fuzz/coverage.py build/coverage/all.profdata "${programs[@]}" || status=1
exit $status
