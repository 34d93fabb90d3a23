# PowerShell completion for cloudctl
# This shell: cloudctl completion powershell | Out-String | Invoke-Expression
# Every shell: the same line in $PROFILE

Register-ArgumentCompleter -Native -CommandName 'cloudctl' -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)

  $words = @($commandAst.CommandElements | Select-Object -Skip 1 |
    Where-Object { $_.Extent.EndOffset -lt $cursorPosition } | ForEach-Object { $_.Extent.Text })
  $typed = [string]$wordToComplete
  $words += if ($typed -eq '') { '""' } else { $typed }
  $mark = [string][char]39
  foreach ($line in @(& 'cloudctl' __complete -- @words 2>$null)) {
    if ($line -eq ':file' -or $line -eq ':folder') {
      [System.Management.Automation.CompletionCompleters]::CompleteFilename(($typed -replace '^--[^=]+=', ''))
    } elseif ($line) {
      $value, $text = $line -split [char]9, 2
      if (-not $text) { $text = $value }
      $quoted = $value
      if ($value -match '[^\w.,:/=@%+-]') { $quoted = $mark + $value.Replace($mark, $mark + $mark) + $mark }
      [System.Management.Automation.CompletionResult]::new($quoted, $value, 'ParameterValue', $text)
    }
  }
}
