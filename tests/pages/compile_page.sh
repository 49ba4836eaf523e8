#!/usr/bin/env bash
# compile_page.sh ROOT COMPILER PAGE: compiles the C++ blocks of one page. A page whose name begins with
# `block_outside` is read as one whose blocks must all be part of an example.
set -euo pipefail
root=$1 compiler=$2 page=$3
verbatim=none
case ${page##*/} in block_outside*) verbatim=$page ;; esac
awk -v EXAMPLES="$root/examples/first_lock.cc" -v VERBATIM="$verbatim" \
  -f "$root/tests/pages/blocks_to_source.awk" "$page" |
  "$compiler" -std=c++23 -fsyntax-only -w -Werror=unused-result -I "$root" -x c++ -
