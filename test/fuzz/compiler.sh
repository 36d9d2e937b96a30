#!/usr/bin/env bash
# Gives the compiler damaged IR and random graphs for a time each:
#
#   bash test/fuzz/compiler.sh [BUILD] [SECONDS] [FIRST-SEED]
#
# README.md says what is tried. What is found is printed, and the script fails.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${1:-build/dev} seconds=${2:-60} seed=${3:-$(date +%s)}

status=0
echo "seed $seed"
python3 test/fuzz/mutate_ir.py "$build/bin/gist-opt-forks" test --seed "$seed" \
  --count 1000000000 --seconds "$seconds" --keep build/fuzz/found/ir || status=1
"$build/bin/gist-graph-fuzz" --seed "${seed}000000" --count 1000000000 --seconds "$seconds" \
  --run-of 20 --simulate-of 200 --simulator "$build/lib/libgist-hip-sim.so" || status=1
exit $status
