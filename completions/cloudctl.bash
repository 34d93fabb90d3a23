# bash completion for cloudctl
# This shell: source <(cloudctl completion bash)
# Every shell: cloudctl completion bash > ~/.local/share/bash-completion/completions/cloudctl

_cloudctl_paths() {
  local path
  if compopt -o default 2>/dev/null; then return; fi
  while IFS= read -r path; do COMPREPLY+=("$path"); done < <(compgen "$1" -- "${COMP_WORDS[COMP_CWORD]}")
}

_cloudctl() {
  local line value word LC_ALL=C
  local -a words
  COMPREPLY=()
  # Without quotes and backslashes; nothing of what is typed is evaluated.
  for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
    word=${word#[\"\']}
    word=${word%[\"\']}
    words+=("${word//\\/}")
  done
  while IFS= read -r line; do
    case $line in
      :file) _cloudctl_paths -f ;;
      :folder) _cloudctl_paths -d ;;
      *)
        value=${line%%$'\t'*}
        # A name of a server may have characters that the shell would interpret.
        if [[ $value == *[!A-Za-z0-9_.,:/=@%+-]* ]]; then printf -v value %q "$value"; fi
        COMPREPLY+=("$value")
        ;;
    esac
  done < <(cloudctl __complete -- "${words[@]}" 2>/dev/null)
}

complete -F _cloudctl cloudctl
