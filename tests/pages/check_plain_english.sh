#!/usr/bin/env bash
# check_plain_english.sh ROOT: no page, man page, public header, comment or message has a phrase of plain_english.txt, and no
# sentence of a page and no comment begins with a free relative clause ("What", "Whether", "Who", …).
set -euo pipefail
export LC_ALL=C
cd "$1"
public_headers() { find holdfast -name '*.h' ! -path '*/internal/*'; }
sources() { find holdfast apps bench examples tests -name '*.h' -o -name '*.cc'; }
scripts() { find holdfast -name '*.lua' -o -name '*.sql'; }
status=0
if { find . -name build -prune -o -name .git -prune -o -name '*.md' -print
  find apps -name '*.[1-9]'
  scripts
  public_headers; } | sed 's,^\./,,' | grep -v '^tests/pages/' | xargs grep -niE -f tests/pages/plain_english.txt; then
  status=1
fi
# Of all other sources, the lines that have a comment or a text.
if sources | xargs grep -nE '//|"' | grep -iE -f tests/pages/plain_english.txt; then
  status=1
fi
if sources | xargs grep -nE '^ *// (What|Whether|Who|How|As|Of|By|Why|Whose|For (how|what)|With what|In what)\b'; then
  status=1
fi
# The name of a test is a sentence in the same words.
if sources | xargs grep -nE 'TEST(_F|_P)?\([A-Za-z]+, *(Who[A-Z]|[A-Za-z]*(ThoseWho|Whoever|NobodyWho|ManyWho|GivenBack|IsAway))'; then
  status=1
fi
# In a page a question and a heading may begin so.
if { find docs -name '*.md'
  ls ./*.md apps/holdfast/holdfast.1; } | xargs grep -nE '(^|[.:] )(- )?(What|Whether|Who|How) [a-z]' | grep -vE '\?|CHANGELOG'; then
  status=1
fi
exit "$status"
