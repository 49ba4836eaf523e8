#!/usr/bin/env bash
# check_plain_english.sh ROOT: no page, man page or public header has a phrase of plain_english.txt, and no comment of a public
# header begins with a free relative clause ("What", "Whether", "Who", …).
set -euo pipefail
export LC_ALL=C
cd "$1"
headers() { find holdfast -name '*.h' ! -path '*/internal/*'; }
status=0
if { find . -name build -prune -o -name .git -prune -o -name '*.md' -print
  find apps -name '*.[1-9]'
  headers; } | sed 's,^\./,,' | grep -v '^tests/pages/' | xargs grep -niE -f tests/pages/plain_english.txt; then
  status=1
fi
if headers | xargs grep -nE '^ *// (What|Whether|Who|How|As|Of|By|Why|Whose|For (how|what)|With what|In what)\b'; then
  status=1
fi
exit "$status"
