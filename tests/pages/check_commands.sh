#!/usr/bin/env bash
# check_commands.sh ROOT HOLDFAST PAGE...: every `holdfast` command that a page shows, in a ```sh block or in
# backticks, has a subcommand and options that the program's --help lists.
set -euo pipefail
export LC_ALL=C
holdfast=$2
cd "$1"
shift 2

# Prints each command of a page, from the word after `holdfast` to `--`, a comment, a pipe or the end.
commands_of() {
  { awk '/^```/ { shown = !shown && $0 == "```sh"; next } shown' "$1" | sed 's/#.*//'
    tr '\n' ' ' <"$1" | sed 's/```[a-z]*//g' | grep -oE '`holdfast [^`]*`' | tr -d '`'
  } | grep -oE '(^|[;&|(] *|[A-Z]=[^ ]* |sudo |nohup |time )holdfast +[^|;&)]*' |
    sed -E 's/^.*holdfast +//; s/ --( .*)?$//; s/ -- .*//'
}

declare -A help
missing=0
shown=0
for page in "$@"; do
  while read -r line; do
    read -ra words <<<"$line"
    while [[ ${words[0]:-} == --store ]]; do words=("${words[@]:2}"); done
    sub=${words[0]:-}
    [[ $sub =~ ^[a-z]+$ ]] || continue
    [[ $sub == fence ]] && sub="fence check"
    shown=$((shown + 1))
    # shellcheck disable=SC2086  # the subcommand may be two words
    [[ -v help[$sub] ]] || help[$sub]=$("$holdfast" $sub --help 2>&1) || help[$sub]=
    if [[ -z ${help[$sub]} ]]; then
      echo "$page shows \`holdfast $line\`: there is no such subcommand"
      missing=1
      continue
    fi
    for word in "${words[@]:1}"; do
      [[ $word =~ ^(--[a-z][a-z-]*|-[A-Za-z])(=.*)?$ ]] || continue
      if ! grep -qE -- "(^|[ ,])${BASH_REMATCH[1]}([ ,=]|\$)" <<<"${help[$sub]}"; then
        echo "$page shows \`holdfast $line\`: $sub has no option ${BASH_REMATCH[1]}"
        missing=1
      fi
    done
  done < <(commands_of "$page" || true)
done
if ((shown == 0)); then
  echo "no command is shown: the pages have changed their form"
  missing=1
fi
exit "$missing"
