#!/usr/bin/env bash
# check_sources.sh ROOT: every .cc of ROOT's layers and programs is named in the nearest
# CMakeLists.txt above it. One that is not would never be built, and a test in it never run.
set -euo pipefail
cd "$1"

folders=()
for folder in holdfast apps bench examples; do
  if [[ -d $folder ]]; then folders+=("$folder"); fi
done

# The lists come first, and leave the words of each; then every source looks for its own.
{
  find "${folders[@]}" -name CMakeLists.txt
  find "${folders[@]}" -name '*.cc' | sort
} | awk '
  function read_words(list, folder,    line, word, n, i) {
    has_list[folder] = 1
    while ((getline line < list) > 0) {
      n = split(line, word, /[ ()"]+/)
      for (i = 1; i <= n; i++) listed[folder, word[i]] = 1
    }
    close(list)
  }

  /CMakeLists[.]txt$/ { read_words($0, substr($0, 1, length($0) - length("/CMakeLists.txt"))); next }

  {
    folder = $0
    do sub("/[^/]*$", "", folder); while (!(folder in has_list) && folder ~ "/")
    name = substr($0, length(folder) + 2)
    stem = substr(name, 1, length(name) - length(".cc"))
    # An example is named without its extension.
    if (!((folder, name) in listed) && !((folder, stem) in listed)) {
      print $0 " is not in " folder "/CMakeLists.txt"
      missing = 1
    }
  }

  END { exit missing }'
