# Completion of holdfast(1) for bash.

# The names that are held, from the store that the words so far or the environment name.
_holdfast_names() {
  local i store=()
  for ((i = 1; i < ${#words[@]} - 1; i++)); do
    if [[ ${words[i]} == --store ]]; then store=(--store "${words[i + 1]}"); fi
  done
  "${words[0]}" "${store[@]}" ls --json 2>/dev/null |
    sed 's/{"name":/\n&/g' | sed -n 's/^{"name":"\([^"\\]*\)".*/\1/p'
}

# The keys that are marked.
_holdfast_marks() { _holdfast_names | sed -n 's/^mark\///p'; }

# What has run once in its period.
_holdfast_once() { _holdfast_names | sed -n 's/^once\///p'; }

_holdfast() {
  local cur prev words cword
  if declare -F _get_comp_words_by_ref >/dev/null; then
    _get_comp_words_by_ref -n : cur prev words cword
  else
    words=("${COMP_WORDS[@]}") cword=$COMP_CWORD
    cur=${words[cword]} prev=${words[cword - 1]}
  fi

  local commands='run once elect throttle ls show why wait hold acquire renew release steal reset fence mark marked clear'
  commands+=' watch serve init schema doctor bench torture help'
  local global='--store --json -v --verbose -h --help'
  local waiting='-n --no-wait -w --wait -q --quiet'
  local claim="$waiting -s --shared --permits --ttl --reason --owner"
  local i command='' command_at=0 positionals=0
  for ((i = 1; i < cword; i++)); do
    if [[ -z $command && " $commands " == *" ${words[i]} "* ]]; then
      command=${words[i]} command_at=$i
    elif [[ $command == @(run|once|elect|throttle|fence) && ${words[i]} == -- ]]; then
      # From here on it is another command's line.
      if declare -F _command_offset >/dev/null; then _command_offset $((i + 1)); else
        COMPREPLY=($(compgen -c -- "$cur"))
      fi
      return
    elif [[ -n $command && ${words[i]} != -* ]]; then
      case ${words[i - 1]} in
        --store | -w | --wait | --permits | --ttl | --reason | --owner | -E | --busy-status | \
          --on-lost | --background | --kill-after | --skipped-status | --per | --retry | --limit | --confirm | \
          --prefix | --every | --listen | --host | --admin-token-file | --tls-certificate | --tls-key | --count | --for | --token | --workers | --names | --faults | --seed | --history | --html | --server-command | --on-acquire | --on-loss | --mode | --user | --group) ;;
        *) ((positionals++)) ;;
      esac
    fi
  done

  case $prev in
    --on-lost) COMPREPLY=($(compgen -W 'term ignore' -- "$cur")) && return ;;
    --background) COMPREPLY=($(compgen -W 'keep kill wait' -- "$cur")) && return ;;
    --store) COMPREPLY=($(compgen -W 'memory: sqlite: redis:// rediss:// redis+unix:// redis+sentinel:// rediss+sentinel:// mongodb:// mongodb+srv:// postgresql:// postgres:// disabled:' -- "$cur")) && return ;;
    --for)
      # A process of `hold`, a time of `bench` and `torture`.
      COMPREPLY=($(compgen -W '$$ 1s 10s' -- "$cur"))
      return
      ;;
    -w | --wait | --ttl | --kill-after | --per | --retry | --every)
      COMPREPLY=($(compgen -W '1s 10s 30s 5m 1h' -- "$cur"))
      return
      ;;
    --permits | --reason | --owner | -E | --busy-status | --skipped-status | --limit | --count | --token | \
      --workers | --names | --seed | --server-command | \
      --on-acquire | --on-loss)
      return
      ;;
    --faults)
      COMPREPLY=($(compgen -W 'pause kill cut delay hang drop server-kill server-pause server-restart none' -- "$cur"))
      return
      ;;
    --history | --html) COMPREPLY=($(compgen -f -- "$cur")) && return ;;
    --mode) COMPREPLY=($(compgen -W '600 660 666' -- "$cur")) && return ;;
    --listen) COMPREPLY=($(compgen -W '127.0.0.1:7447 [::1]:7447' -- "$cur")) && return ;;
    --admin-token-file | --tls-certificate | --tls-key) COMPREPLY=($(compgen -f -- "$cur")) && return ;;
    --host) return ;;
    --user) COMPREPLY=($(compgen -u -- "$cur")) && return ;;
    --group)
      COMPREPLY=($(compgen -g -- "$cur"))
      return
      ;;
    --confirm | --prefix) COMPREPLY=($(compgen -W "$(_holdfast_names)" -- "$cur")) && return ;;
  esac

  local options
  case $command in
    '') COMPREPLY=($(compgen -W "$commands $global -V --version" -- "$cur")) && return ;;
    run)
      options="$claim -E --busy-status --on-lost --background --kill-after --pass-password"
      options+=' --on-acquire --on-loss'
      ;;
    hold) options="$claim --for --ignore-loss" ;;
    once) options='--per --retry -E --skipped-status --kill-after --owner --pass-password' ;;
    elect) options='--ttl --kill-after --owner --pass-password --on-acquire --on-loss' ;;
    throttle) options="$waiting --limit --per --sliding" ;;
    wait) options=$waiting ;;
    acquire) options=$claim ;;
    renew) options='--ttl' ;;
    steal) options='--confirm' ;;
    fence) options='--token -w --wait' ;;
    mark) options='--ttl --if-clear' ;;
    watch) options='--prefix --every' ;;
    serve) options='--listen --host --admin-token-file --tls-certificate --tls-key --insecure --every' ;;
    init) options='--mode --user --group' ;;
    bench) options='--count --for' ;;
    torture) options='--for --workers --names --ttl --faults --server-command --fence --seed --history --html' ;;
    *) options='' ;;
  esac
  if [[ $cur == -* ]]; then
    COMPREPLY=($(compgen -W "$options $global" -- "$cur"))
  elif [[ $command == fence ]]; then
    case $positionals in
      0) COMPREPLY=($(compgen -W 'check' -- "$cur")) ;;
      1) COMPREPLY=($(compgen -f -- "$cur")) ;;
    esac
  elif [[ $command == schema ]]; then
    ((positionals == 0)) && COMPREPLY=($(compgen -W 'postgresql' -- "$cur"))
  elif [[ $command == help ]]; then
    ((positionals == 0)) && COMPREPLY=($(compgen -W "$commands" -- "$cur"))
  elif [[ $command == @(mark|marked|clear) ]]; then
    ((positionals == 0)) && COMPREPLY=($(compgen -W "$(_holdfast_marks)" -- "$cur"))
  elif [[ $command == reset ]]; then
    ((positionals == 0)) && COMPREPLY=($(compgen -W "$(_holdfast_once)" -- "$cur"))
  elif ((positionals == 0)) && [[ $command != @(doctor|bench|torture|init|serve) ]]; then
    COMPREPLY=($(compgen -W "$(_holdfast_names)" -- "$cur"))
  fi
}

complete -F _holdfast holdfast
