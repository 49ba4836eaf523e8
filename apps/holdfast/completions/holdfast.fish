# Completion of holdfast(1) for fish.

set -l commands run once elect throttle ls show why wait hold acquire renew release steal reset fence mark marked clear watch serve init schema doctor bench torture help

function __holdfast_names
    holdfast ls --json 2>/dev/null | sed 's/{"name":/\n&/g' | sed -n 's/^{"name":"\([^"\\\\]*\)".*/\1/p'
end

function __holdfast_using
    set -l words (commandline -opc)
    for word in $words[2..-1]
        if contains -- $word run once elect throttle ls show why wait hold acquire renew release steal reset fence mark marked clear watch serve init schema doctor bench torture help
            contains -- $word $argv
            return
        end
    end
    return 1
end

complete -c holdfast -f
complete -c holdfast -l store -x -a 'memory: sqlite: redis:// rediss:// redis+unix:// redis+sentinel:// rediss+sentinel:// mongodb:// mongodb+srv:// postgresql:// postgres:// disabled:' -d 'The lock store'
complete -c holdfast -l json -d 'Print JSON'
complete -c holdfast -s v -l verbose -d 'Tell what happens'
complete -c holdfast -s h -l help -d 'Print help'
complete -c holdfast -n "not __fish_seen_subcommand_from $commands" -s V -l version -d 'Print the version'

complete -c holdfast -n "not __fish_seen_subcommand_from $commands" -a run -d 'Hold a name while a command runs'
complete -c holdfast -n "not __fish_seen_subcommand_from $commands" -a ls -d 'List the names that are held'
complete -c holdfast -n "not __fish_seen_subcommand_from $commands" -a once -d 'Run a command at most once per period'
complete -c holdfast -n "not __fish_seen_subcommand_from $commands" -a elect -d 'Run a command while leading'
complete -c holdfast -n "not __fish_seen_subcommand_from $commands" -a throttle -d 'Limit how many pass per period'
complete -c holdfast -n "not __fish_seen_subcommand_from $commands" -a show -d 'Show the holders of a name'
complete -c holdfast -n "not __fish_seen_subcommand_from $commands" -a why -d 'Say why a command for a name waits'
complete -c holdfast -n "not __fish_seen_subcommand_from $commands" -a wait -d 'Wait until a name is free'
complete -c holdfast -n "not __fish_seen_subcommand_from $commands" -a acquire -d 'Acquire a lease for a script'
complete -c holdfast -n "not __fish_seen_subcommand_from $commands" -a hold -d 'Hold a name for the calling shell'
complete -c holdfast -n "not __fish_seen_subcommand_from $commands" -a renew -d 'Renew a lease of acquire'
complete -c holdfast -n "not __fish_seen_subcommand_from $commands" -a release -d 'Release a lease of acquire'
complete -c holdfast -n "not __fish_seen_subcommand_from $commands" -a steal -d 'Remove the leases of the holders'
complete -c holdfast -n "not __fish_seen_subcommand_from $commands" -a reset -d 'Forget that once has run'
complete -c holdfast -n "not __fish_seen_subcommand_from $commands" -a fence -d 'Reject a stale token'
complete -c holdfast -n "not __fish_seen_subcommand_from $commands" -a mark -d 'Set an expiring flag'
complete -c holdfast -n "not __fish_seen_subcommand_from $commands" -a marked -d 'Check whether a key is marked'
complete -c holdfast -n "not __fish_seen_subcommand_from $commands" -a clear -d 'Remove a mark'
complete -c holdfast -n "not __fish_seen_subcommand_from $commands" -a watch -d 'Print acquisitions and releases'
complete -c holdfast -n "not __fish_seen_subcommand_from $commands" -a serve -d 'Show the store as a page and an API'
complete -c holdfast -n "not __fish_seen_subcommand_from $commands" -a doctor -d 'Check the store'
complete -c holdfast -n "not __fish_seen_subcommand_from $commands" -a init -d 'Create a store'
complete -c holdfast -n "not __fish_seen_subcommand_from $commands" -a schema -d 'Print the SQL that creates a store'
complete -c holdfast -n "not __fish_seen_subcommand_from $commands" -a bench -d 'Measure acquire and release'
complete -c holdfast -n "not __fish_seen_subcommand_from $commands" -a torture -d 'Try to break the promises of the store'
complete -c holdfast -n "not __fish_seen_subcommand_from $commands" -a help -d 'Print the help of a command'
complete -c holdfast -n '__holdfast_using help' -a "$commands"

complete -c holdfast -n '__holdfast_using run once elect throttle ls show why wait hold acquire renew release steal watch' -a '(__holdfast_names)'
complete -c holdfast -n '__holdfast_using run wait hold acquire throttle' -s n -l no-wait -d 'Do not wait'
complete -c holdfast -n '__holdfast_using run wait hold acquire throttle fence' -s w -l wait -x -a '10s 1m 10m' -d 'Longest wait'
complete -c holdfast -n '__holdfast_using run wait hold acquire throttle' -s q -l quiet -d 'Do not tell whom it waits for'
complete -c holdfast -n '__holdfast_using run hold acquire' -s s -l shared -d 'Share the name'
complete -c holdfast -n '__holdfast_using run hold acquire' -l permits -x -d 'Hold K of N'
complete -c holdfast -n '__holdfast_using run hold acquire renew mark elect torture' -l ttl -x -a '10s 30s 5m' -d 'How long the lease lasts'
complete -c holdfast -n '__holdfast_using run hold acquire' -l reason -x -d 'Reason'
complete -c holdfast -n '__holdfast_using run hold acquire once elect' -l owner -x -d 'Owner label'
complete -c holdfast -n '__holdfast_using run' -s E -l busy-status -x -d 'Exit code when the name is busy'
complete -c holdfast -n '__holdfast_using run' -l on-lost -x -a 'term ignore' -d 'What to do if the lock is lost'
complete -c holdfast -n '__holdfast_using run' -l background -x -a 'keep kill wait' -d 'Processes that the command leaves behind'
complete -c holdfast -n '__holdfast_using run once elect' -l pass-password -d 'Hand the command the URL with its password'
complete -c holdfast -n '__holdfast_using run once elect' -l kill-after -x -a '0s 5s 30s' -d 'How long after TERM to kill'
complete -c holdfast -n '__holdfast_using run once elect throttle' -a '(__fish_complete_subcommand --fcs-skip=3)'
complete -c holdfast -n '__holdfast_using steal' -l confirm -x -a '(__holdfast_names)' -d 'The same name again'
complete -c holdfast -n '__holdfast_using schema' -a postgresql
complete -c holdfast -n '__holdfast_using fence' -a check
complete -c holdfast -n '__holdfast_using fence' -F
complete -c holdfast -n '__holdfast_using fence' -l token -x -d 'The fencing token'
complete -c holdfast -n '__holdfast_using mark' -l if-clear -d 'Only if it is not marked'
complete -c holdfast -n '__holdfast_using mark marked clear' -a '(__holdfast_names | string replace -rf "^mark/" "")'
complete -c holdfast -n '__holdfast_using reset' -a '(__holdfast_names | string replace -rf "^once/" "")'
complete -c holdfast -n '__holdfast_using watch' -l prefix -x -a '(__holdfast_names)' -d 'Names that begin with this'
complete -c holdfast -n '__holdfast_using serve' -l listen -x -a '127.0.0.1:7447' -d 'Address and port'
complete -c holdfast -n '__holdfast_using serve' -l host -x -d 'Host names to answer for'
complete -c holdfast -n '__holdfast_using serve' -l tls-certificate -r -d 'Certificate chain'
complete -c holdfast -n '__holdfast_using serve' -l admin-token-file -r -d 'Token for changes'
complete -c holdfast -n '__holdfast_using serve' -l tls-key -r -d 'Key of the certificate'
complete -c holdfast -n '__holdfast_using serve' -l insecure -d 'Serve other machines without TLS'
complete -c holdfast -n '__holdfast_using serve watch' -l every -x -a '50ms 200ms 1s' -d 'Poll interval'
complete -c holdfast -n '__holdfast_using bench' -l count -x -d 'Number of rounds'
complete -c holdfast -n '__holdfast_using bench torture' -l for -x -a '1s 2s 10s' -d 'How long'
complete -c holdfast -n '__holdfast_using once throttle' -l per -x -a '1s 1m 1h' -d 'Length of the window'
complete -c holdfast -n '__holdfast_using once' -l retry -x -a '1m 10m' -d 'When to try again after a crash'
complete -c holdfast -n '__holdfast_using once' -s E -l skipped-status -x -d 'Exit code when skipped'
complete -c holdfast -n '__holdfast_using throttle' -l limit -x -d 'How many may pass'
complete -c holdfast -n '__holdfast_using throttle' -l sliding -d 'Limit every interval of that length'
complete -c holdfast -n '__holdfast_using run elect' -l on-acquire -x -d 'Shell command to run when the name is acquired'
complete -c holdfast -n '__holdfast_using run elect' -l on-loss -x -d 'Shell command to run when the lock is lost'
complete -c holdfast -n '__holdfast_using hold' -l for -x -a '(__fish_complete_pids)' -d 'The process to hold it for'
complete -c holdfast -n '__holdfast_using hold' -l ignore-loss -d 'If the lease is lost, only report it'
complete -c holdfast -n '__holdfast_using init' -l mode -x -a '600 660' -d 'Mode of its files'
complete -c holdfast -n '__holdfast_using init' -l user -x -a '(__fish_complete_users)' -d 'User of its files'
complete -c holdfast -n '__holdfast_using init' -l group -x -a '(__fish_complete_groups)' -d 'Group of its files'
complete -c holdfast -n '__holdfast_using torture' -l workers -x -d 'Number of processes'
complete -c holdfast -n '__holdfast_using torture' -l names -x -d 'Number of names of each kind'
complete -c holdfast -n '__holdfast_using torture' -l faults -x -a 'pause kill cut delay hang drop server-kill server-pause server-restart none' -d 'Faults to inject'
complete -c holdfast -n '__holdfast_using torture' -l server-command -x -d 'Shell command that runs the server'
complete -c holdfast -n '__holdfast_using torture' -l fence -d 'Let updates pass a fence'
complete -c holdfast -n '__holdfast_using torture' -l seed -x -d 'Repeat the choices of another run'
complete -c holdfast -n '__holdfast_using torture' -l history -r -F -d 'File for the history'
complete -c holdfast -n '__holdfast_using torture' -l html -r -F -d 'File for the page'
