#!/usr/bin/env bash
# check_completions.sh HOLDFAST: every command, and every option of every command's help, is in each
# of the completions and in the manual; and bash completes them.
set -euo pipefail
holdfast=$1
here=$(cd "$(dirname "$0")" && pwd)
status=0

fail() {
  echo "$*" >&2
  status=1
}

# knows FILE TEXT: whether FILE of this folder has TEXT as a word.
knows() {
  # A manual writes its hyphens as \-.
  grep -qE -- "(^|[^-a-zA-Z])$2([^-a-zA-Z]|\$)" <<<"$(sed 's/\\-/-/g' "$here/$1")"
}

commands=$("$holdfast" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
for command in $commands; do
  for file in holdfast.bash _holdfast holdfast.fish ../holdfast.1; do
    knows "$file" "$command" || fail "$file does not know the command $command"
  done
  for option in $("$holdfast" "$command" --help | grep -o -- '^  -[-a-zA-Z,]*' | tr , ' '); do
    case $option in
      --*) fish="-l ${option#--}" ;;
      *) fish="-s ${option#-}" ;;
    esac
    knows holdfast.fish "$fish" || fail "holdfast.fish does not know $command $option"
    for file in holdfast.bash _holdfast ../holdfast.1; do
      knows "$file" "$option" || fail "$file does not know $command $option"
    done
  done
done

# Every engine of the help is offered, and described in the manual.
for url in $("$holdfast" --help | sed -n '/^Stores/,/^$/s/^  \([a-z+]*:[^ ]*\) .*/\1/p'); do
  scheme=${url%%:*}:
  [[ $url == *://* ]] && scheme+=//
  for file in holdfast.bash holdfast.fish ../holdfast.1; do
    grep -qF -- "$scheme" <<<"$(sed 's/\\-/-/g' "$here/$file")" || fail "$file does not know the store $scheme"
  done
  grep -qF -- "${scheme/:/\\:}" "$here/_holdfast" || fail "_holdfast does not know the store $scheme"
done

# complete_words WORD...: what bash offers for the last of them.
complete_words() {
  COMP_WORDS=("$holdfast" "$@") COMP_CWORD=$# COMPREPLY=()
  _holdfast
  printf '%s\n' "${COMPREPLY[@]}"
}

source "$here/holdfast.bash"
HOME=$(mktemp -d)
export HOME
trap 'rm -rf "$HOME"' EXIT
unset HOLDFAST_STORE XDG_STATE_HOME
"$holdfast" acquire --ttl 1h deploy/web >/dev/null
[[ $(complete_words st) == steal ]] || fail "bash does not complete st to steal"
[[ $(complete_words run --on-lost t) == term ]] || fail "bash does not complete --on-lost t"
[[ $(complete_words run --kil) == --kill-after ]] || fail "bash does not complete run --kil"
[[ $(complete_words fence c) == check ]] || fail "bash does not complete fence c"
"$holdfast" mark cache/warm --ttl 1h
[[ $(complete_words marked ca) == cache/warm ]] || fail "bash does not complete keys that are marked"
[[ $(complete_words --store redi) == redis://*rediss://*redis+unix://*redis+sentinel://*rediss+sentinel:// ]] || fail "bash does not complete stores"
[[ $(complete_words help do) == doctor ]] || fail "bash does not complete help do"
[[ $(complete_words show dep) == deploy/web ]] || fail "bash does not complete names that are held"
exit "$status"
