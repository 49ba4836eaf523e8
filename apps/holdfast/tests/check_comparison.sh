#!/usr/bin/env bash
# check_comparison.sh HOLDFAST MANUAL: the table in the NOTES of the manual, "yes" or "no" for
# holdfast, flock(1) and etcdctl(1), is what these programs do. Ends with 77, which ctest reports as
# skipped, where they are not installed.
set -euo pipefail
holdfast=$1 manual=$2
for program in flock etcd etcdctl; do
  command -v "$program" >/dev/null || { echo "skipped: there is no $program" && exit 77; }
done
here=$(mktemp -d)
export HOME=$here ETCDCTL_API=3 HOLDFAST_CONFIG=/dev/null
unset HOLDFAST_STORE XDG_STATE_HOME XDG_CONFIG_HOME
cd "$here"
etcd_pid='' locker=''
trap '[[ -z $etcd_pid ]] || kill -9 "$etcd_pid" 2>/dev/null; wait 2>/dev/null; rm -rf "$here"' EXIT

# until_true COMMAND...: at most 200 s, as all tests.
until_true() {
  for ((i = 0; i < 4000; i++)); do
    if "$@" >/dev/null 2>&1; then return; fi
    sleep 0.05
  done
  echo "not true in time: $*" >&2
  [[ -z $locker ]] || kill -9 "$locker" || true  # nobody waits for it any more
  exit 1
}
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

client=http://127.0.0.1:$(free_port) peer=http://127.0.0.1:$(free_port)
etcd --data-dir "$here/etcd" --listen-client-urls "$client" --advertise-client-urls "$client" \
  --listen-peer-urls "$peer" --initial-advertise-peer-urls "$peer" --initial-cluster "default=$peer" \
  >etcd.log 2>&1 &
etcd_pid=$!
export ETCDCTL_ENDPOINTS=$client
until_true etcdctl endpoint health

# locked PROGRAM COMMAND...: runs COMMAND under the lock, of 2 s where that can be said.
locked() {
  local program=$1
  shift
  case $program in
    holdfast) exec "$holdfast" run --ttl 2s job -- "$@" ;;
    flock) exec flock job.lock "$@" ;;
    etcdctl) exec etcdctl lock --ttl 2 job -- "$@" ;;
  esac
}
# A try that must not wait.
locked_at_once() {
  local program=$1
  shift
  case $program in
    holdfast) "$holdfast" run -n job -- "$@" ;;
    flock) flock -n job.lock "$@" ;;
    etcdctl) etcdctl lock -n job -- "$@" ;;
  esac
}
# Whether the name can be acquired within some seconds: longer than the ttl.
is_free_soon() {
  case $1 in
    holdfast) "$holdfast" run -w 10s job -- true ;;
    flock) flock -w 5 job.lock true ;;
    etcdctl) timeout 10 etcdctl lock --ttl 2 job true ;;
  esac >/dev/null 2>&1
}
yes_if() { if "$@"; then echo yes; else echo no; fi; }

passes_status() { [[ $( (locked "$1" sh -c 'exit 42') >/dev/null 2>&1; echo $?) == 42 ]]; }
refuses_to_wait() { locked_at_once "$1" true >/dev/null 2>&1; }
gives_growing_token() {
  local first second
  read_token() { (locked "$1" sh -c 'echo "token=${HOLDFAST_TOKEN:-${ETCD_LOCK_REV:-0}}"') 2>/dev/null | sed -n 's/^token=//p'; }
  first=$(read_token "$1") second=$(read_token "$1")
  ((second > first))
}
names_holder() {
  local pid
  (locked "$1" sh -c 'echo $PPID >pid; read line <hold') &
  locker=$!
  until_true test -s pid
  pid=$(cat pid)
  { case $1 in
    holdfast) "$holdfast" show job ;;
    flock) flock -n job.lock true 2>&1 || true ;;
    etcdctl) etcdctl get --prefix job ;;
  esac } >told 2>&1
  echo >hold
  wait "$locker"
  rm -f pid
  # The pid of the program that locks, or of the one that holds its lock for it.
  grep -qwE "$pid|$locker" told
}

# After_kill PROGRAM: kills what locks while its command runs; says in `ends` whether the command
# ends with it, and in `frees` whether the name is free although it did nothing.
after_kill() {
  (locked "$1" sh -c 'echo $$ >command; while :; do sleep 0.05; done') >/dev/null 2>&1 &
  locker=$!
  local command
  until_true test -s command
  command=$(cat command)
  kill -9 "$locker"
  wait "$locker" 2>/dev/null || true
  frees=$(yes_if is_free_soon "$1")
  ends=yes
  if kill -0 "$command" 2>/dev/null; then ends=no; fi
  kill -9 "$command" 2>/dev/null || true
  rm -f command
  both=no
  if [[ $frees == yes && $ends == no ]]; then both=yes; fi
}

mkfifo hold
status=0
# row TEXT YES_OR_NO...: compares a row with that of the manual.
row() {
  local text=$1 found
  shift
  found=$(sed 's/\\-/-/g' "$manual" | grep -F -- "$text;" || true)
  local expected="$text;$1;$2;$3"
  if [[ $found != "$expected" ]]; then
    echo "the manual says '$found', but it is '$expected'" >&2
    status=1
  fi
}
each() { for program in holdfast flock etcdctl; do yes_if "$1" "$program"; done; }

row "passes the command's status on" $(each passes_status)
row "can refuse to wait" $(each refuses_to_wait)
row "names the holder" $(each names_holder)
row "gives the command a growing token" $(each gives_growing_token)
all_ends=() all_frees=() all_both=()
for program in holdfast flock etcdctl; do
  after_kill "$program"
  all_ends+=("$ends") all_frees+=("$frees") all_both+=("$both")
done
row "killed, it ends the command" "${all_ends[@]}"
row "killed, it frees the name" "${all_frees[@]}"
row "killed, it lets two commands run at once" "${all_both[@]}"
exit "$status"
