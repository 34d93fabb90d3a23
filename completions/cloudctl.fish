# fish completion for cloudctl
# This shell: cloudctl completion fish | source
# Every shell: cloudctl completion fish > ~/.config/fish/completions/cloudctl.fish

function __cloudctl_complete
  set -l words (commandline -opc)
  set -e words[1]
  set -l typed (commandline -ct)
  set -l option (string match -r -- '^--[^=]+=' "$typed")
  set -l path (string replace -r -- '^--[^=]+=' '' "$typed")
  for line in (cloudctl __complete -- $words "$typed" 2>/dev/null)
    switch $line
      case :file
        string replace -r -- '^' "$option" (__fish_complete_path "$path")
      case :folder
        string replace -r -- '^' "$option" (__fish_complete_directories "$path")
      case '*'
        printf '%s\n' $line
    end
  end
end

complete -c cloudctl -f -a '(__cloudctl_complete)'
