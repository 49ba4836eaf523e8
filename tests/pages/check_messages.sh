#!/usr/bin/env bash
# check_messages.sh ROOT: every message that docs/troubleshooting.md quotes in the first column of a table is in
# the sources, where the compiler may join it from several literals.
set -euo pipefail
export LC_ALL=C
cd "$1"
sources=$(find holdfast apps \( -name '*.cc' -o -name '*.h' \) ! -name '*_test.cc' | sort | xargs cat | tr '\n' ' ' | sed -E 's/" +"//g')
missing=0
quoted=0
while IFS= read -r message; do
  quoted=$((quoted + 1))
  if [[ $sources != *"$message"* ]]; then
    echo "docs/troubleshooting.md quotes a message that no source has: $message"
    missing=1
  fi
done < <(sed '/^## Symptoms/,$d' docs/troubleshooting.md | awk -F'|' '/^\| `/ { print $2 }' | grep -oE '`[^`]+`' | tr -d '`')
if ((quoted == 0)); then
  echo "no message is quoted: the page has changed its form"
  missing=1
fi
exit "$missing"
