#!/usr/bin/env bash
# check_packages.sh ROOT: docs/getting-started.md installs every package that the libraries need, by scripts/packages.txt.
set -euo pipefail
export LC_ALL=C
cd "$1"
installed=$(sed -n '/^sudo apt-get install g++/,/[^\\]$/p' docs/getting-started.md)
missing=0
while read -r package; do
  if ! grep -qwF -- "$package" <<<"$installed"; then
    echo "docs/getting-started.md does not install $package"
    missing=1
  fi
done < <(awk '$1 == "build" && $4 ~ /^(engines\/|objects:|async:)/ { print $2 }' scripts/packages.txt)
exit "$missing"
