#!/usr/bin/env bash
# check_links.sh ROOT: every link of a page to a file of the repository, or to a heading of a page, leads
# there, and every page under docs/ is linked from docs/README.md.
set -euo pipefail
export LC_ALL=C.UTF-8
cd "$1"

prose_of() { awk '/^```/ { code = !code; next } !code' "$1"; }
# The anchors of a page, as GitHub makes them from its headings.
anchors_of() { prose_of "$1" | sed -nE 's/^#+ +//p' | tr 'A-Z' 'a-z' | sed -E 's/[^a-z0-9 _-]//g; s/ /-/g'; }

broken=0
for page in *.md $(find docs -name '*.md' | sort); do
  while read -r target; do
    file=${target%%#*}
    path=$page
    [[ -z $file ]] || path=$(dirname "$page")/$file
    if [[ ! -e $path ]]; then
      echo "$page links to $target, which does not exist"
      broken=1
    elif [[ $target == *'#'* && $path == *.md ]] && ! anchors_of "$path" | grep -qxF -- "${target#*#}"; then
      echo "$page links to $target: there is no such heading"
      broken=1
    fi
  done < <(prose_of "$page" | grep -oE '\]\([^) ]+\)' | sed 's/^](//; s/)$//' | grep -vE '^(https?|mailto):' || true)
done
for page in $(cd docs && find . -name '*.md' ! -path ./README.md | sed 's,^\./,,' | sort); do
  if ! grep -qF "]($page" docs/README.md; then
    echo "docs/README.md does not link to $page"
    broken=1
  fi
done
exit "$broken"
