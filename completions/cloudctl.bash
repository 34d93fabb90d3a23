# bash completion for cloudctl
# This shell: source <(cloudctl completion bash)
# Every shell: cloudctl completion bash > ~/.local/share/bash-completion/completions/cloudctl

_cloudctl_paths() {
  local path
  if compopt -o default 2>/dev/null; then return; fi
  while IFS= read -r path; do COMPREPLY+=("$path"); done < <(compgen "$1" -- "${COMP_WORDS[COMP_CWORD]}")
}

_cloudctl() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      :file) _cloudctl_paths -f ;;
      :folder) _cloudctl_paths -d ;;
      *) COMPREPLY+=("${line%%$'\t'*}") ;;
    esac
  done < <(cloudctl __complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}

complete -F _cloudctl cloudctl
