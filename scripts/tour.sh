#!/usr/bin/env bash
# tour.sh HOLDFAST: a guided demonstration of the tool on SQLite, with a temporary store. Several real
# processes contend; one of them is killed. Exits with 1 if a check fails.
set -euo pipefail

title() { printf '\n%s\n' "== $*"; }
shows() { printf '   %s\n' "$*"; }
# Prints a command as typed, then runs it.
typed() {
  printf '   $ %s\n' "$*"
  "$@" 2>&1 | sed 's/^/   /'
}
broken() {
  printf '%s\n' "tour: check failed: $*" >&2
  exit 1
}
# until_true COMMAND...: waits until the command succeeds, for up to 30 s.
until_true() {
  local deadline=$((SECONDS + 30))
  until "$@"; do
    ((SECONDS < deadline)) || broken "waited 30 s for: $*"
    sleep 0.02
  done
}

one_at_a_time() {
  title "Eight processes each add 1 to a number in a file, under 'holdfast run counter'"
  echo 0 >"$folder/number"
  local pids=() pid
  for _ in {1..8}; do
    holdfast run counter -- sh -c 'n=$(cat "$1"); sleep 0.02; echo $((n + 1)) >"$1"' add "$folder/number" &
    pids+=("$!")
  done
  for pid in "${pids[@]}"; do wait "$pid" || broken "a process failed with $?"; done
  shows "the number is now $(<"$folder/number")"
  [[ $(<"$folder/number") == 8 ]] || broken "an addition was lost"
}

# Starts a process that holds `deploy` and leaves it running; its pid is $holder.
a_name_is_held() {
  title "A process holds 'deploy', with a lease of 2 s that it keeps renewing"
  holdfast run --ttl 2s --reason 'release 811' deploy -- sh -c 'echo "$HOLDFAST_TOKEN" >"$1"; exec sleep 60' \
    hold "$folder/first" &
  holder=$!
  until_true test -s "$folder/first"
  typed holdfast ls
  local status=0
  holdfast run -n deploy -- true 2>"$folder/busy" || status=$?
  shows '$ holdfast run -n deploy -- true'
  shows "$(<"$folder/busy")"
  shows "status $status: busy, and 'true' was not run"
  ((status == 75)) || broken "expected 75"
}

the_holder_is_killed() {
  title "Another process waits for 'deploy'; the holder is killed with SIGKILL"
  holdfast run --reason 'release 812' deploy -- sh -c 'echo "$HOLDFAST_TOKEN" >"$1"' next "$folder/second" &
  local waiter=$! start=$SECONDS
  kill -KILL "$holder"
  wait "$holder" 2>/dev/null || true
  holder=
  wait "$waiter" || broken "the waiter failed with $?"
  shows "the waiter acquired it $((SECONDS - start)) s later, when the dead holder's lease had expired"
  shows "fencing token of the dead holder: $(<"$folder/first")"
  shows "fencing token of the new holder:  $(<"$folder/second"), greater: a fence rejects the dead holder's token"
  (($(<"$folder/second") > $(<"$folder/first"))) || broken "the token did not grow"
}

three_of_three() {
  title "Six processes share three permits: 'holdfast run --permits 1/3 gpu'"
  local pids=() pid
  for _ in {1..6}; do
    holdfast run --permits 1/3 gpu -- sh -c 'mkdir "$1/in.$$"; (set -- "$1"/in.*; echo $#); sleep 0.1; rmdir "$1/in.$$"' \
      work "$folder" >>"$folder/seen" &
    pids+=("$!")
  done
  for pid in "${pids[@]}"; do wait "$pid" || broken "a process failed with $?"; done
  local most
  most=$(sort -n "$folder/seen" | tail -n 1)
  shows "at most $((most)) ran at the same time"
  ((most <= 3)) || broken "more than three ran at the same time"
}

nothing_is_left() {
  title "Nothing is left"
  typed holdfast ls
  [[ -z $(holdfast ls --json | grep '"name"') ]] || broken "something is still held"
}

PATH=$(cd "$(dirname "$1")" && pwd):$PATH
folder=$(mktemp -d)
holder=
cleanup() {
  [[ -z $holder ]] || kill -KILL "$holder" 2>/dev/null || true
  rm -rf "$folder"
}
trap cleanup EXIT
export HOLDFAST_STORE="sqlite:$folder/locks.db"

printf '%s\n' "Holdfast: locks for C++, from one thread to many machines. Everything below is running live."
shows "store: $HOLDFAST_STORE"
one_at_a_time
a_name_is_held
the_holder_is_killed
three_of_three
nothing_is_left
printf '\n%s\n' "All checks passed. Next: ./run -h, ./run run --help, README.md."
