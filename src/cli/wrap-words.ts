import { breakShellCommand } from './break-shell-command.ts';

/**
 * The text in lines of at most `width`, broken between words; lines after the first begin with `indent` blanks. A text in
 * backquotes, a command at the end after a colon, and a word that is longer than a line stay in one piece. A command that is
 * longer than a line is broken as a shell accepts it, so that it can be pasted; in a narrow column it stays in one piece, too.
 * @param measure the width of a text; without it, the number of characters
 */
export function wrapWords(
  text: string,
  width: number,
  indent = 0,
  measure: (text: string) => number = ({ length }) => length,
): string {
  if (measure(text) <= width) return text;
  const blanks = ' '.repeat(indent);
  const lines: string[] = [];
  let line = '';
  for (const part of unbreakableParts(text)) {
    if (line === '' || measure(line + part) <= width) {
      line += part;
      continue;
    }
    lines.push(line);
    const [first = '', ...rest] =
      isShellCommand(part) && width - indent >= minCommandWidth
        ? breakShellCommand(part.trimStart(), width - indent).map((each) => blanks + each)
        : [blanks + part.trimStart()];
    const all = [first, ...rest];
    lines.push(...all.slice(0, -1));
    line = all.at(-1) ?? '';
  }
  return [...lines, line].join('\n');
}

/** In a narrower column, a broken command would have nearly one line for each word. */
const minCommandWidth = 30;

/** Words and commands, each with the blanks before it. */
function unbreakableParts(line: string): readonly string[] {
  const [command = ''] = /(?<=: )(?:cloudctl|psql) [^`]*$/.exec(line) ?? [];
  const prose = line.slice(0, line.length - command.length);
  const words = prose.match(/ *(?:`[^`]*`|[^ ])+/g) ?? [];
  return command === '' ? words : [...words, ` ${command}`];
}

/** Other texts in backquotes, such as SQL, cannot be continued with a backslash. */
function isShellCommand(part: string): boolean {
  return /^ *`?(?:[A-Z_]+=[^ ]+ )*(?:cloudctl|psql) /.test(part);
}
