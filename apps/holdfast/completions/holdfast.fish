# Completion of holdfast(1) for fish.

set -l commands run once elect throttle ls show wait acquire renew release steal fence mark marked clear watch doctor bench

function __holdfast_names
    holdfast ls --json 2>/dev/null | sed 's/{"name":/\n&/g' | sed -n 's/^{"name":"\([^"\\\\]*\)".*/\1/p'
end

function __holdfast_using
    set -l words (commandline -opc)
    for word in $words[2..-1]
        if contains -- $word run once elect throttle ls show wait acquire renew release steal fence mark marked clear watch doctor bench
            contains -- $word $argv
            return
        end
    end
    return 1
end

complete -c holdfast -f
complete -c holdfast -l store -x -a 'sqlite: memory:' -d 'Where the locks are'
complete -c holdfast -l json -d 'Write JSON'
complete -c holdfast -s v -l verbose -d 'Say what happens'
complete -c holdfast -s h -l help -d 'Print help'
complete -c holdfast -n "not __fish_seen_subcommand_from $commands" -l version -d 'Print the version'

complete -c holdfast -n "not __fish_seen_subcommand_from $commands" -a run -d 'Hold a name while a command runs'
complete -c holdfast -n "not __fish_seen_subcommand_from $commands" -a ls -d 'List the names that are held'
complete -c holdfast -n "not __fish_seen_subcommand_from $commands" -a once -d 'Run a command at most once in a while'
complete -c holdfast -n "not __fish_seen_subcommand_from $commands" -a elect -d 'Run a command while leading'
complete -c holdfast -n "not __fish_seen_subcommand_from $commands" -a throttle -d 'Let only so many pass in a while'
complete -c holdfast -n "not __fish_seen_subcommand_from $commands" -a show -d 'Show who holds a name'
complete -c holdfast -n "not __fish_seen_subcommand_from $commands" -a wait -d 'Wait until a name is free'
complete -c holdfast -n "not __fish_seen_subcommand_from $commands" -a acquire -d 'Take a lease and leave it'
complete -c holdfast -n "not __fish_seen_subcommand_from $commands" -a renew -d 'Extend such a lease'
complete -c holdfast -n "not __fish_seen_subcommand_from $commands" -a release -d 'Give such a lease back'
complete -c holdfast -n "not __fish_seen_subcommand_from $commands" -a steal -d 'Take a name away from its holders'
complete -c holdfast -n "not __fish_seen_subcommand_from $commands" -a fence -d 'Refuse a holder that was overtaken'
complete -c holdfast -n "not __fish_seen_subcommand_from $commands" -a mark -d 'Mark a key for a while'
complete -c holdfast -n "not __fish_seen_subcommand_from $commands" -a marked -d 'Say whether a key is marked'
complete -c holdfast -n "not __fish_seen_subcommand_from $commands" -a clear -d 'Remove a mark'
complete -c holdfast -n "not __fish_seen_subcommand_from $commands" -a watch -d 'Print who acquires and who releases'
complete -c holdfast -n "not __fish_seen_subcommand_from $commands" -a doctor -d 'Check the store'
complete -c holdfast -n "not __fish_seen_subcommand_from $commands" -a bench -d 'Measure acquire and release'

complete -c holdfast -n '__holdfast_using run once elect throttle ls show wait acquire renew release steal watch' -a '(__holdfast_names)'
complete -c holdfast -n '__holdfast_using run wait acquire throttle' -s n -l no-wait -d 'Do not wait'
complete -c holdfast -n '__holdfast_using run wait acquire throttle fence' -s w -l wait -x -a '10s 1m 10m' -d 'Wait at most so long'
complete -c holdfast -n '__holdfast_using run acquire' -s s -l shared -d 'Share the name'
complete -c holdfast -n '__holdfast_using run acquire' -l permits -x -d 'Hold K of N'
complete -c holdfast -n '__holdfast_using run acquire renew mark elect' -l ttl -x -a '10s 30s 5m' -d 'How long the lease lasts'
complete -c holdfast -n '__holdfast_using run acquire' -l reason -x -d 'What for'
complete -c holdfast -n '__holdfast_using run acquire once elect' -l owner -x -d 'Who'
complete -c holdfast -n '__holdfast_using run' -s E -l busy-status -x -d 'What to end with if it is not free'
complete -c holdfast -n '__holdfast_using run' -l on-lost -x -a 'term ignore' -d 'What to do if the lock is lost'
complete -c holdfast -n '__holdfast_using run once elect' -l pass-password -d 'Hand the command the URL with its password'
complete -c holdfast -n '__holdfast_using run once elect' -l kill-after -x -a '0s 5s 30s' -d 'How long after TERM to kill'
complete -c holdfast -n '__holdfast_using run once elect throttle' -a '(__fish_complete_subcommand --fcs-skip=3)'
complete -c holdfast -n '__holdfast_using steal' -l confirm -x -a '(__holdfast_names)' -d 'The same name once more'
complete -c holdfast -n '__holdfast_using fence' -a check
complete -c holdfast -n '__holdfast_using fence' -F
complete -c holdfast -n '__holdfast_using fence' -l token -x -d 'The fencing token'
complete -c holdfast -n '__holdfast_using mark' -l if-clear -d 'Only if it is not marked'
complete -c holdfast -n '__holdfast_using mark marked clear' -a '(__holdfast_names | string replace -rf "^mark/" "")'
complete -c holdfast -n '__holdfast_using watch' -l prefix -x -a '(__holdfast_names)' -d 'Names that begin with this'
complete -c holdfast -n '__holdfast_using watch' -l every -x -a '50ms 200ms 1s' -d 'How often to ask'
complete -c holdfast -n '__holdfast_using bench' -l count -x -d 'How often'
complete -c holdfast -n '__holdfast_using bench' -l for -x -a '1s 2s 10s' -d 'How long'
complete -c holdfast -n '__holdfast_using once throttle' -l per -x -a '1s 1m 1h' -d 'In how long'
complete -c holdfast -n '__holdfast_using once' -l retry -x -a '1m 10m' -d 'How long after a crash another may try'
complete -c holdfast -n '__holdfast_using once' -s E -l skipped-status -x -d 'What to end with if it is not run'
complete -c holdfast -n '__holdfast_using throttle' -l limit -x -d 'How many may pass'
complete -c holdfast -n '__holdfast_using throttle' -l sliding -d 'In any interval so long'
