#!/usr/bin/env bash
# Runs every sample and fails with the first that fails. Usage: run-all.sh BUILD_DIR
set -euo pipefail
cd "$(dirname "$0")"
for sample in [0-9]*/; do
  echo "-- samples/${sample%/}"
  bash "${sample}run.sh" "../$1"
done
