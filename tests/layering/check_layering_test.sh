#!/usr/bin/env bash
# check_layering_test.sh: the check finds every violation in fixture/, and nothing else.
set -euo pipefail

cd "$(dirname "$0")"

status=0
found=$(./check_layering.sh fixture/layers.txt fixture) || status=$?
if ((status == 0)); then
  echo "the check passed a tree full of violations"
  exit 1
fi
diff -u expected.txt - <<<"$found"
