export type CompletionShell = (typeof completionShells)[number];

export const completionShells = ['bash', 'zsh', 'fish', 'powershell'] as const;

/**
 * Returns the completion script for a shell. The completion script runs `PROGRAM __complete` (complete.ts) at each press of Tab
 * and shows the suggestions.
 */
export function completionScript(shell: CompletionShell, program: string): string {
  return scripts[shell].replaceAll('PROGRAM', program);
}

/**
 * The completion script for bash 3.2 and later; it avoids `compopt`, which bash 3.2 lacks, and `compgen`, because readline
 * completes paths better.
 */
const bash = `# bash completion for PROGRAM
# This shell: source <(PROGRAM completion bash)
# Every shell: PROGRAM completion bash > ~/.local/share/bash-completion/completions/PROGRAM

_PROGRAM_paths() {
  local path
  if compopt -o default 2>/dev/null; then return; fi
  while IFS= read -r path; do COMPREPLY+=("$path"); done < <(compgen "$1" -- "\${COMP_WORDS[COMP_CWORD]}")
}

_PROGRAM() {
  local line value word LC_ALL=C
  local -a words
  COMPREPLY=()
  # Without quotes and backslashes; nothing of what is typed is evaluated.
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD}"; do
    word=\${word#[\\"\\']}
    word=\${word%[\\"\\']}
    words+=("\${word//\\\\/}")
  done
  while IFS= read -r line; do
    case $line in
      :file) _PROGRAM_paths -f ;;
      :folder) _PROGRAM_paths -d ;;
      *)
        value=\${line%%$'\\t'*}
        # A name of a server may have characters that the shell would interpret.
        if [[ $value == *[!A-Za-z0-9_.,:/=@%+-]* ]]; then printf -v value %q "$value"; fi
        COMPREPLY+=("$value")
        ;;
    esac
  done < <(PROGRAM __complete -- "\${words[@]}" 2>/dev/null)
}

complete -F _PROGRAM PROGRAM
`;

/** The completion script for zsh 5 and later. */
const zsh = `#compdef PROGRAM
# zsh completion for PROGRAM
# This shell: source <(PROGRAM completion zsh)
# Every shell: PROGRAM completion zsh > "\${fpath[1]}/_PROGRAM"

_PROGRAM() {
  local line paths value tab=$'\\t' ret=1
  local -a suggestions
  while IFS= read -r line; do
    case $line in
      :file) paths=_files ;;
      :folder) paths='_files -/' ;;
      *)
        value=\${line%%$tab*}
        suggestions+=("\${value//:/\\:}\${\${line#$value}/$tab/:}")
        ;;
    esac
  done < <(PROGRAM __complete -- "\${(@Q)words[2,CURRENT-1]}" "\${(Q)PREFIX}" 2>/dev/null)
  if (( $#suggestions )); then _describe PROGRAM suggestions && ret=0; fi
  if [[ -n $paths ]]; then
    compset -P '--*='
    \${=paths} && ret=0
  fi
  return ret
}

if [[ \${funcstack[1]} == _PROGRAM ]]; then
  _PROGRAM "$@"
else
  compdef _PROGRAM PROGRAM
fi
`;

/** The completion script for fish 3 and later. */
const fish = `# fish completion for PROGRAM
# This shell: PROGRAM completion fish | source
# Every shell: PROGRAM completion fish > ~/.config/fish/completions/PROGRAM.fish

function __PROGRAM_complete
  set -l words (commandline -opc)
  set -e words[1]
  set -l typed (commandline -ct)
  set -l option (string match -r -- '^--[^=]+=' "$typed")
  set -l path (string replace -r -- '^--[^=]+=' '' "$typed")
  for line in (PROGRAM __complete -- $words "$typed" 2>/dev/null)
    switch $line
      case :file
        string replace -r -- '^' "$option" (__fish_complete_path "$path")
      case :folder
        string replace -r -- '^' "$option" (__fish_complete_directories "$path")
      case '*'
        printf '%s\\n' $line
    end
  end
end

complete -c PROGRAM -f -a '(__PROGRAM_complete)'
`;

/**
 * The completion script for Windows PowerShell 5 and PowerShell 7. Windows PowerShell 5 and PowerShell 7 differ in how they
 * pass an empty argument to a program.
 */
const powershell = `# PowerShell completion for PROGRAM
# This shell: PROGRAM completion powershell | Out-String | Invoke-Expression
# Every shell: the same line in $PROFILE

Register-ArgumentCompleter -Native -CommandName 'PROGRAM' -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)

  $words = @($commandAst.CommandElements | Select-Object -Skip 1 |
    Where-Object { $_.Extent.EndOffset -lt $cursorPosition } | ForEach-Object { $_.Extent.Text })
  $typed = [string]$wordToComplete
  $words += if ($typed -eq '') { '""' } else { $typed }
  $mark = [string][char]39
  foreach ($line in @(& 'PROGRAM' __complete -- @words 2>$null)) {
    if ($line -eq ':file' -or $line -eq ':folder') {
      [System.Management.Automation.CompletionCompleters]::CompleteFilename(($typed -replace '^--[^=]+=', ''))
    } elseif ($line) {
      $value, $text = $line -split [char]9, 2
      if (-not $text) { $text = $value }
      $quoted = $value
      if ($value -match '[^\\w.,:/=@%+-]') { $quoted = $mark + $value.Replace($mark, $mark + $mark) + $mark }
      [System.Management.Automation.CompletionResult]::new($quoted, $value, 'ParameterValue', $text)
    }
  }
}
`;

const scripts: Readonly<Record<CompletionShell, string>> = { bash, zsh, fish, powershell };
