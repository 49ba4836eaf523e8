#!/usr/bin/env bash
# check_versions.sh ROOT VERSION: the newest release of CHANGELOG.md and <holdfast/version.h> have the project's version.
set -euo pipefail
export LC_ALL=C
cd "$1"
version=$2
wrong=0
expect() {  # WHERE FOUND EXPECTED
  [[ $2 == "$3" ]] || { echo "$1 says ${2:-nothing}, the project has the version $version"; wrong=1; }
}
expect CHANGELOG.md "$(sed -nE 's/^## \[([0-9.]+)\].*/\1/p' CHANGELOG.md | head -n 1)" "$version"
expect holdfast/version.h "$(sed -nE 's/^#define HOLDFAST_VERSION "(.*)"/\1/p' holdfast/version.h)" "$version"
numbers=$(sed -nE 's/^#define HOLDFAST_VERSION_(MAJOR|MINOR|PATCH) //p' holdfast/version.h | paste -sd .)
expect "holdfast/version.h, in numbers," "$numbers" "$version"
exit "$wrong"
