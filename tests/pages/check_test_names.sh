#!/usr/bin/env bash
# check_test_names.sh ROOT PAGE...: every test that a page names in backticks, as `Suite.Test` or, as
# ctest does, `layer.Suite.`, is in the sources, and every case of a conformance suite, as
# `locks.*.Sentence`. A `*` stands for any characters.
set -euo pipefail
export LC_ALL=C
cd "$1"
shift

# Suite.Test for each test, wherever the macro's line is broken.
tests=$(find holdfast apps tests examples -name '*.cc' -o -name '*.h' | sort | xargs cat | tr '\n' ' ' |
  grep -oE '(TEST|TEST_F|TEST_P|TYPED_TEST)\( *[A-Za-z0-9_]+, *[A-Za-z0-9_]+' |
  sed -E 's/^[A-Z_]+\( *//; s/, */./')
# The cases of the conformance suites.
cases=$(find holdfast/testing/internal -name '*.cc' | sort | xargs grep -ohE '\{"[A-Z][A-Za-z0-9]+"' | tr -d '{"')

missing=0
named=0
for page in "$@"; do
  while read -r name; do
    pattern=$(sed -E 's/^[a-z0-9_.*]*\.([A-Z])/\1/; s/\.$/.*/' <<<"$name")
    expression="^$(sed 's/\./\\./g; s/\*/.*/g' <<<"$pattern")\$"
    named=$((named + 1))
    if ! grep -qE "$expression" <<<"$tests"; then
      echo "$page names \`$name\`, which is no test"
      missing=1
    fi
  done < <(grep -oE '`([a-z0-9_*]+\.)*[A-Z][A-Za-z0-9_]*\.([A-Z*][A-Za-z0-9_*]*)?`' "$page" | tr -d '`')
  while read -r name; do
    named=$((named + 1))
    if ! grep -qx "${name##*.}" <<<"$cases"; then
      echo "$page names \`$name\`, which is no case of a conformance suite"
      missing=1
    fi
  done < <(grep -oE '`[a-z_]+\.\*\.[A-Z][A-Za-z0-9]*`' "$page" | tr -d '`')
done
if ((named == 0)); then
  echo "no test is named: the pages have changed their form"
  missing=1
fi
exit "$missing"
