/**
 * The text in lines of at most `width` characters, broken between words; lines after the first begin with `indent` blanks. A
 * command in backquotes stays in one line, so that it can be copied, and so does a word that is longer than a line.
 */
export function wrapWords(text: string, width: number, indent = 0): string {
  if (text.length <= width) return text;
  const lines: string[] = [];
  // Blanks at the start of the text are kept, as part of the first word.
  const [first = '', ...words] = text.match(/^ +(?:`[^`]*`|[^ ])*|(?:`[^`]*`|[^ ])+/g) ?? [];
  let line = first;
  for (const word of words) {
    if (line.length + 1 + word.length > width) {
      lines.push(line);
      line = ' '.repeat(indent) + word;
    } else line = `${line} ${word}`;
  }
  return [...lines, line].join('\n');
}
