# SPDX-License-Identifier: BSD-3-Clause
# Completion of tsanom in bash.

_tsanom() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
  local subcommand=${COMP_WORDS[1]} options words argument
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ] || { [ "$COMP_CWORD" -eq 2 ] && [ "$subcommand" = help ]; }; then
    words=$(tsanom help 2>/dev/null | sed -n 's/^  \([a-z]*\)  .*/\1/p')
    [ "$COMP_CWORD" -eq 1 ] && words="$words help --help --version"
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
    return
  fi
  # bash splits --metric=e into --metric, = and e.
  if [ "$word" = = ]; then
    word=
  elif [ "$before" = = ]; then
    before=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  options=$(tsanom "$subcommand" --complete 2>/dev/null)
  case $word in
    -*)
      mapfile -t COMPREPLY < <(compgen -W "$(cut -f 1 <<<"$options")" -- "$word")
      return
      ;;
  esac
  argument=$(awk -F '\t' -v name="$before" '$1 == name { print $3 }' <<<"$options")
  case $argument in
    *'|'*) mapfile -t COMPREPLY < <(compgen -W "${argument//|/ }" -- "$word") ;;
    *) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
  esac
}

complete -o filenames -F _tsanom tsanom
