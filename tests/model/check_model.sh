#!/usr/bin/env bash
# check_model.sh MODEL holds|breaks [-DMACRO...]: checks every state of a Spin model, and prints how many there are.
# `holds` expects no error, `breaks` expects one: a bug that a macro plants. In a folder of its own.
set -euo pipefail
model=$(realpath "$1")
expected=$2
shift 2
type spin gcc >/dev/null  # scripts/packages.txt has their packages

folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cd "$folder"
spin -a "$@" "$model" >generated 2>&1 || { cat generated; exit 1; }
# -DSAFETY: assertions and states without a next step, no cycles. At most 8 GB.
gcc -w -O2 -DSAFETY -DCOLLAPSE -DMEMLIM=8000 -o pan pan.c
./pan -m100000 >report || true  # its status does not tell whether all states were seen
grep -E '^pan:1|states, stored|States=.*$' report | tail -n 2

if ! grep -q 'errors: ' report || grep -qE 'max search depth too small|out of memory|memory limit' report; then
  echo "not all states were seen"
  exit 1
fi
case $expected in
  holds) grep -q 'errors: 0$' report ;;
  breaks) grep -qE '^pan:1: (assertion violated|invalid end state)' report ;;
esac
