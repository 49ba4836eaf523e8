#!/usr/bin/env bash
# check_plain_english.sh ROOT [--prune]: no page, man page or public header has a phrase of plain_english.txt,
# except the files in plain_english_to_do.txt. That list only becomes shorter: a file on it that has none of
# the phrases any more, or does not exist, is reported too, or with --prune removed from the list.
set -euo pipefail
export LC_ALL=C
cd "$1"
found=$({ find . -name build -prune -o -name .git -prune -o -name '*.md' -print
  find apps -name '*.[1-9]'
  find holdfast -name '*.h' ! -path '*/internal/*'; } | sed 's,^\./,,' | grep -v '^tests/pages/' |
  xargs grep -niE -f tests/pages/plain_english.txt || true)
files=$(cut -d: -f1 <<<"$found" | sort -u)
to_do=$(grep -v '^#' tests/pages/plain_english_to_do.txt | sort || true)
if [[ ${2:-} == --prune ]]; then
  to_do=$(comm -12 <(echo "$files") <(echo "$to_do"))
  { grep '^#' tests/pages/plain_english_to_do.txt; echo "$to_do"; } >tests/pages/plain_english_to_do.new
  mv tests/pages/plain_english_to_do.new tests/pages/plain_english_to_do.txt
fi
status=0
while read -r file; do
  [[ -n $file ]] || continue
  grep "^$file:" <<<"$found"
  status=1
done < <(comm -23 <(echo "$files") <(echo "$to_do"))
while read -r file; do
  [[ -n $file ]] || continue
  echo "$file has none of the phrases any more: run tests/pages/check_plain_english.sh . --prune"
  status=1
done < <(comm -13 <(echo "$files") <(echo "$to_do"))
exit "$status"
