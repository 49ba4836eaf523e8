#!/usr/bin/env bash
# check_layering.sh TABLE ROOT: reads every #include and every name in a layer's `internal` namespace under
# ROOT and reports, as FILE:LINE: reason, those that the table of layers (cmake/layers.txt) does not allow;
# then the edges of the table that no file uses. Exit status 1 if there is any.
set -euo pipefail
export LC_ALL=C

table=$(realpath "$1")
cd "$2"

folders=()
for folder in holdfast apps bench examples; do
  if [[ -d $folder ]]; then folders+=("$folder"); fi
done

find "${folders[@]}" -type f \( -name '*.h' -o -name '*.cc' \) -print0 | sort -z |
  xargs -0 awk -v table="$table" '
    function report(where, reason) { print where ": " reason; bad = 1 }

    BEGIN {
      while ((getline row < table) > 0) {
        line++
        sub(/#.*/, "", row)
        if (row ~ /^[ \t]*$/) continue
        n = split(row, word, /[ \t:]+/)
        for (i = 2; i <= n; i++) {
          if (word[i] == "") continue
          if (!(word[i] in listed))
            report("layers.txt:" line, word[1] " names " word[i] ", which is not above it")
          allowed[word[1], word[i]] = 1
          edges[++edge_count] = word[1] SUBSEP word[i]
        }
        listed[word[1]] = 1
        allowed[word[1], word[1]] = 1
      }
      if (line == 0) report(table, "the table is empty or missing")
    }

    # The layer of a path below holdfast/: its folder, or `holdfast` for a file of that folder itself.
    function layer_of(path, part) {
      return split(path, part, "/") > 2 ? part[2] : "holdfast"
    }

    # "" for a program, an example or a benchmark.
    FNR == 1 {
      layer = FILENAME ~ /^holdfast\// ? layer_of(FILENAME) : ""
      is_test = FILENAME ~ /(_test\.cc|_testing\.h|\/testing_support\.h)$/
      if (layer != "" && !(layer in listed))
        report(FILENAME ":1", "folder holdfast/" layer " is not in the table of layers")
    }

    match($0, /^[ \t]*#[ \t]*include[ \t]*[<"][^>"]+/) {
      target = substr($0, RSTART, RLENGTH)
      sub(/^[^<"]*/, "", target)
      quoted = substr(target, 1, 1) == "\""
      target = substr(target, 2)
      where = FILENAME ":" FNR

      if (target ~ /(^|\/)\.\.\//) {
        report(where, "includes by a relative path: " target)
      } else if (target !~ /^holdfast\//) {
        # Without the full path this check could not see which layer is meant.
        if (quoted && layer != "")
          report(where, "a layer includes by the full path, <holdfast/...>: " target)
      } else {
        other = layer_of(target)
        if (!is_test) used[layer, other] = 1
        if (is_test && other == "engines" && target !~ /\/internal\//) next
        if (layer != "" && !((layer, other) in allowed))
          report(where, layer " may not include " other ": " target)
        else if (other != layer && target ~ /\/internal\//)
          report(where, "internal to " other ": " target)
      }
    }

    # A name of another layer, qualified or in a `using`; a comment may mention it. A layer of engines
    # has one namespace more, engines::redis::internal.
    {
      code = $0
      sub(/\/\/.*/, "", code)
      while (match(code, /[a-z_]+::([a-z_]+::)?internal(::|;| *\{)/)) {
        found = substr(code, RSTART, RLENGTH)
        is_global = substr(code, RSTART - 1, 1) == ":"  # ::testing::internal is of GoogleTest
        code = substr(code, RSTART + RLENGTH)
        if (is_global) continue
        sub(/^holdfast::/, "", found)
        owner = found
        sub(/::.*/, "", owner)
        if (owner in listed && owner != layer)
          report(FILENAME ":" FNR, "internal to " owner ": " owner "::internal")
      }
    }

    END {
      for (i = 1; i <= edge_count; i++)
        if (!(edges[i] in used)) {
          split(edges[i], part, SUBSEP)
          report("layers.txt", part[1] " includes nothing of " part[2])
        }
      exit bad
    }
  ' || exit 1
