#!/usr/bin/env bash
# check_tmux.sh HOLDFAST: what a person at a terminal sees of a wait, of `watch` and of signals.
# Ends with 77, which ctest reports as skipped, where there is no tmux.
set -euo pipefail
holdfast=$1
command -v tmux >/dev/null || { echo "skipped: there is no tmux" && exit 77; }
HOME=$(mktemp -d)
export HOME PS1='$ ' HISTFILE=/dev/null HOLDFAST_CONFIG=/dev/null
unset HOLDFAST_STORE XDG_STATE_HOME XDG_CONFIG_HOME TMUX
tmux() { command tmux -S "$HOME/socket" "$@"; }
trap 'tmux kill-server 2>/dev/null || true; rm -rf "$HOME" || true' EXIT

tmux -f /dev/null new-session -d -x 130 -y 24 'bash --norc --noprofile'
type_line() { tmux send-keys -l -- "$1" && tmux send-keys Enter; }
screen() { tmux capture-pane -p; }

# sees PATTERN: waits until the screen has a line that matches, at most 200 s as all tests.
sees() {
  for ((i = 0; i < 4000; i++)); do
    if screen | grep -qE -- "$1"; then return; fi
    sleep 0.05
  done
  echo "'$1' is not on the screen, but:" >&2
  screen >&2
  exit 1
}
clear_screen() { tmux send-keys -R C-l && tmux clear-history; }

lease=$("$holdfast" acquire --ttl 1h --owner ci@host:41 --reason 'deploy 812' job | cut -d' ' -f1)

echo "a wait shows the holder and the time left, counts on, and Ctrl-C ends it and erases the line"
type_line "$holdfast run -w 10m job -- echo mine; echo status \$?"
sees '^waiting [0-9]+[sm] for job · held by ci@host \(pid 41\) "deploy 812" for .* · lease .* left · gives up in [0-9]m'
sees '^waiting ([3-9]s|[1-9][0-9]s|[0-9]+m) for job'
tmux send-keys C-c
sees '^status 130'
if screen | grep -q '^waiting'; then echo "the line was not erased" >&2 && exit 1; fi

echo "Ctrl-Z stops a wait, fg goes on with it, and it ends with the lock"
clear_screen
type_line "$holdfast run job -- echo mine"
sees '^waiting [0-9]+[sm] for job'
tmux send-keys C-z
sees 'Stopped'
type_line fg
sees '^waiting [0-9]+[sm] for job'
"$holdfast" release job "$lease"
sees '^mine'

echo "watch prints what happens until Ctrl-C"
clear_screen
type_line "$holdfast watch job"
lease=$("$holdfast" acquire --ttl 1h --owner ci@host:41 job | cut -d' ' -f1)
sees '  (acquired|held) +job  ci@host \(pid 41\)'
"$holdfast" release job "$lease"
sees '  released +job  ci@host \(pid 41\)'
tmux send-keys C-c
type_line 'echo status $?'
sees '^status 130'

echo "Ctrl-C goes to the command"
clear_screen
type_line "$holdfast run job -- sh -c 'trap \"echo in\"\"terrupted; exit 7\" INT; echo re\"\"ady; while :; do sleep 0.05; done'; echo status \$?"
sees '^ready'
tmux send-keys C-c
sees '(^|\^C)interrupted'
sees '^status 7'

echo "a throttle shows how long it waits, and Ctrl-C ends the wait"
clear_screen
"$holdfast" throttle --limit 1 --per 1h api
type_line "$holdfast throttle --limit 1 --per 1h api; echo status \$?"
sees '^waiting [0-9]+[sm] for api · throttled · may pass in [0-9]+m'
tmux send-keys C-c
sees '^status 130'
