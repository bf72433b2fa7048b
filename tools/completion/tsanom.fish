# SPDX-License-Identifier: BSD-3-Clause
# Completion of tsanom in fish.

function __tsanom_subcommands
    tsanom help 2>/dev/null | string replace -rf '^  ([a-z]+)  +(.*)' '$1\t$2'
end

# Options of the subcommand on the command line, with their descriptions.
function __tsanom_options
    set -l words (commandline -opc)
    test (count $words) -ge 2; or return
    tsanom $words[2] --complete 2>/dev/null | string replace -r '^(\S+)\t([^\t]*)\t.*' '$1\t$2'
end

# Words that the option before the cursor takes.
function __tsanom_values
    set -l words (commandline -opc)
    test (count $words) -ge 3; or return
    for line in (tsanom $words[2] --complete 2>/dev/null)
        set -l part (string split \t -- $line)
        if test "$part[1]" = "$words[-1]"; and string match -q '*|*' -- $part[3]
            string split '|' -- $part[3]
        end
    end
end

complete -c tsanom -n 'test (count (commandline -opc)) -eq 1' -f -a '(__tsanom_subcommands)'
complete -c tsanom -n 'test (count (commandline -opc)) -ge 2' -a '(__tsanom_options)'
complete -c tsanom -n 'test (count (commandline -opc)) -ge 3' -a '(__tsanom_values)'
