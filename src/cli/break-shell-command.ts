/**
 * Breaks a command into lines of at most `width` characters that a shell accepts: with a backslash at the end, outside
 * quotes and `$(…)`. An option stays with its value, a redirection with its file, and a pipe with the command after it. A
 * shorter command is returned unchanged.
 */
export function breakShellCommand(command: string, width: number): readonly string[] {
  if (command.length <= width) return [command];
  const indent = '    ';
  const lines: string[] = [];
  let line = '';
  for (const part of partsOf(command)) {
    // Every line but the last ends with a blank and a backslash.
    if (line !== '' && line.length + 1 + part.length > width - 2) {
      lines.push(`${line} \\`);
      line = indent + part;
    } else line = line === '' ? part : `${line} ${part}`;
  }
  return [...lines, line];
}

function partsOf(command: string): readonly string[] {
  const parts: string[] = [];
  for (const word of wordsOf(command)) {
    const last = parts.at(-1);
    const belongsToLast =
      last !== undefined && (/^(-[^ ]*|&&)$/.test(last) || /(^| )[|<>]$/.test(last) || /^\d?>+$/.test(last));
    if (belongsToLast && !/^-/.test(word)) parts.splice(-1, 1, `${last} ${word}`);
    else parts.push(word);
  }
  return parts;
}

/** Splits at blanks outside quotes and parentheses. */
function wordsOf(command: string): readonly string[] {
  const words: string[] = [];
  let [word, quote, depth, isEscaped] = ['', '', 0, false];
  for (const character of command) {
    if (isEscaped) isEscaped = false;
    else if (character === '\\' && quote !== "'") isEscaped = true;
    else if (quote !== '') quote = character === quote ? '' : quote;
    else if (character === "'" || character === '"') quote = character;
    else if (character === '(') depth += 1;
    else if (character === ')') depth -= 1;
    if (character === ' ' && quote === '' && depth === 0) {
      words.push(word);
      word = '';
    } else word += character;
  }
  return [...words, word];
}
