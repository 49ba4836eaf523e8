#!/usr/bin/env bash
# check_sources.sh ROOT: every .cc of ROOT's layers and programs is named in the nearest
# CMakeLists.txt above it. One that is not would never be built, and a test in it never run.
set -euo pipefail
cd "$1"

folders=()
for folder in holdfast apps bench examples; do
  if [[ -d $folder ]]; then folders+=("$folder"); fi
done

status=0
while IFS= read -r source; do
  folder=$(dirname "$source")
  until [[ -f $folder/CMakeLists.txt ]]; do folder=$(dirname "$folder"); done
  name=${source#"$folder"/}
  # An example is named without its extension.
  if ! grep -qE "(^|[ (\"])${name%.cc}(\.cc)?([ )\"]|\$)" "$folder/CMakeLists.txt"; then
    echo "$source is not in $folder/CMakeLists.txt"
    status=1
  fi
done < <(find "${folders[@]}" -name '*.cc' | sort)
exit "$status"
