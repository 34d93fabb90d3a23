import type { ArgumentSpec, OptionSpec } from '../command.ts';
import type { Level } from './levels.ts';
import { everywhere, flagsOf, offerOf, profilesCommand } from './levels.ts';

/** For Windows PowerShell 5 and PowerShell 7. */
export function powershellScript(program: string, levels: readonly Level[]): string {
  return `# PowerShell completion for ${program}
# In this shell: ${program} completion powershell | Out-String | Invoke-Expression
# In every one: the same line in $PROFILE

Register-ArgumentCompleter -Native -CommandName ${quoted(program)} -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)

  $everywhere = ${optionTable(everywhere, '  ')}
  $levels = @{
${levels.map(levelEntry).join('\n')}
  }

  $words = @($commandAst.CommandElements | Select-Object -Skip 1 |
    Where-Object { $_.Extent.EndOffset -lt $cursorPosition } | ForEach-Object { $_.Extent.Text })
  $path = '/'
  $place = 0
  $option = $null
  $ended = $false
  foreach ($word in $words) {
    if ($option) { $option = $null; continue }
    if ($ended) { $place++; continue }
    if ($word -eq '--') { $ended = $true; continue }
    if ($word.StartsWith('-')) {
      $known = if ($levels[$path].Options.Contains($word)) { $levels[$path].Options[$word] } else { $everywhere[$word] }
      if ($known -and $known.Value) { $option = $known }
      continue
    }
    $next = $path.TrimEnd('/') + '/' + $word
    if ($place -eq 0 -and $levels.ContainsKey($next)) { $path = $next } else { $place++ }
  }

  $level = $levels[$path]
  $typed = [string]$wordToComplete
  $prefix = ''
  if (-not $option -and -not $ended -and $typed -match '^(--[^=]+)=(.*)$') {
    $flag = $Matches[1]
    $typed = $Matches[2]
    $prefix = "$flag="
    $option = if ($level.Options.Contains($flag)) { $level.Options[$flag] } else { $everywhere[$flag] }
  }

  $found = [ordered]@{}
  $offer = $null
  if ($option) { $offer = $option.Value }
  elseif (-not $ended -and $typed.StartsWith('-')) {
    foreach ($table in @($everywhere, $level.Options)) {
      foreach ($flag in $table.Keys) { $found[$flag] = $table[$flag].Text }
    }
  } else {
    if ($place -eq 0 -and -not $ended) {
      foreach ($name in $level.Commands.Keys) { $found[$name] = $level.Commands[$name] }
    }
    if ($level.Places.Count -gt 0) {
      $last = $level.Places[$level.Places.Count - 1]
      if ($place -lt $level.Places.Count) { $offer = $level.Places[$place].Value }
      elseif ($last.Variadic) { $offer = $last.Value }
    }
  }
  if ($offer) {
    switch ($offer.Kind) {
      'words' { foreach ($word in $offer.Words) { $found[$word] = $word } }
      'profile' { foreach ($word in @(${profilesCommand(`& ${quoted(program)}`)} 2>$null)) { if ($word) { $found[$word] = $word } } }
      'file' { return [System.Management.Automation.CompletionCompleters]::CompleteFilename($typed) }
      'folder' { return [System.Management.Automation.CompletionCompleters]::CompleteFilename($typed) }
    }
  }

  foreach ($word in $found.Keys) {
    if ($word.StartsWith($typed, [System.StringComparison]::Ordinal)) {
      $text = if ($found[$word]) { $found[$word] } else { $word }
      [System.Management.Automation.CompletionResult]::new("$prefix$word", $word, 'ParameterValue', $text)
    }
  }
}
`;
}

function levelEntry({ path, commands, options, places }: Level): string {
  const names = commands.map(({ name, summary }) => `${quoted(name)} = ${quoted(summary)}`);
  const arguments_ = places.map(
    (place) => `@{ Variadic = ${place.variadic === true ? '$true' : '$false'}; Value = ${offerTable(place)} }`,
  );
  return `    ${quoted(path)} = @{
      Commands = [ordered]@{ ${names.join('; ')} }
      Options = ${optionTable(options, '      ')}
      Places = @(${arguments_.join(', ')})
    }`;
}

function optionTable(options: readonly OptionSpec[], indent: string): string {
  if (options.length === 0) return '[ordered]@{}';
  const entries = options.flatMap((option) => {
    const value = option.valueName === undefined ? '$null' : offerTable(option);
    return flagsOf(option).map(
      (flag) => `${indent}  ${quoted(flag)} = @{ Text = ${quoted(option.description)}; Value = ${value} }`,
    );
  });
  return `[ordered]@{\n${entries.join('\n')}\n${indent}}`;
}

function offerTable(spec: Pick<OptionSpec | ArgumentSpec, 'choices' | 'completes'>): string {
  const offer = offerOf(spec);
  if (offer.kind !== 'words') return `@{ Kind = ${quoted(offer.kind)} }`;
  return `@{ Kind = 'words'; Words = @(${offer.words.map(quoted).join(', ')}) }`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
