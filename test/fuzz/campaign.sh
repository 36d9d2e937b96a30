#!/usr/bin/env bash
# Runs every fuzz target until it has executed RUNS inputs or SECONDS are over, on
# all cores, and prints how many it executed:
#
#     bash test/fuzz/campaign.sh BIN SEEDS OUT [RUNS [SECONDS]]
#
# BIN has the programs (preset `fuzz`), SEEDS a folder for each, as seeds.py
# writes them, OUT gets logs and what was found. Nothing else is needed, so that
# the programs can be carried to a large machine. It fails when something was
# found, or when a target executed fewer than RUNS.
set -uo pipefail
bin=$1 seeds=$2 out=$3 runs=${4:-10000000} seconds=${5:-500}
mkdir -p "$out/found" "$out/logs" "$out/corpus"
# Stacks of allocations cost most of an execution's time; a finding is run again
# with them.
export ASAN_OPTIONS=malloc_context_size=0:quarantine_size_mb=4:detect_leaks=0

# How slow a target is, by measurement: slower ones get more processes.
weight() {
  case $1 in
  TokenizerJson) echo 4 ;;
  Safetensors | ChatTemplate) echo 3 ;;
  Plan | Measurements | Config | Gguf) echo 2 ;;
  *) echo 1 ;;
  esac
}
names=$(cd "$bin" && ls Gist*Fuzz | sed 's/^Gist//; s/Fuzz$//')
total=0
for name in $names; do total=$((total + $(weight "$name"))); done

start=$SECONDS
for name in $names; do
  count=$(($(weight "$name") * $(nproc) / total))
  [ "$count" -gt 0 ] || count=1
  for i in $(seq "$count"); do
    mkdir -p "$out/corpus/$name-$i"
    # Seeds differ, so that processes of one target do not do the same.
    "$bin/Gist${name}Fuzz" -seed="$i" -runs=$((runs / count + 1)) \
      -max_total_time="$seconds" -timeout=10 -rss_limit_mb=4096 \
      -print_final_stats=1 -artifact_prefix="$out/found/$name-$i-" \
      "$out/corpus/$name-$i" "$seeds/$name" >"$out/logs/$name-$i" 2>&1 &
  done
done
wait

status=0
for name in $names; do
  executed=$(cat "$out/logs/$name"-* |
    sed -n 's/^stat::number_of_executed_units: *//p' | awk '{n += $1} END {print n + 0}')
  echo "$name: $executed executions by $(ls "$out/logs/$name"-* | wc -l) processes"
  [ "$executed" -ge "$runs" ] || status=1
done
echo "found: $(ls "$out/found" | wc -l), after $((SECONDS - start)) s on $(nproc) cores"
[ -z "$(ls "$out/found")" ] || status=1
exit $status
