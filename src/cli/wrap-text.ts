import { createTextMeasurerForTexts } from './text-measurer.ts';

/**
 * Breaks the lines of a text at spaces, so that a terminal does not break them inside a word. A command, in backquotes or at
 * the end of a line after a colon, stays on one line even if it is longer, because users copy commands. Continued lines are
 * indented. @param columns the width of the terminal; if undefined, there is no terminal and the text is returned unchanged
 */
export async function wrapForTerminal(text: string, columns: number | undefined): Promise<string> {
  if (columns === undefined || columns < minColumns) return text;
  const ruler = await createTextMeasurerForTexts([text]);
  const wrap = (line: string): string => {
    if (ruler.measure(line) <= columns) return line;
    const [indent = ''] = /^ */.exec(line) ?? [];
    const lines: string[] = [];
    let current = '';
    for (const word of unbreakableParts(line.slice(indent.length))) {
      const longer = current === '' ? `${indent}${word}` : `${current}${word}`;
      if (current === '' || ruler.measure(longer) <= columns) current = longer;
      else {
        lines.push(current);
        current = `${indent}  ${word.trimStart()}`;
      }
    }
    return [...lines, current].join('\n');
  };
  return text.split('\n').map(wrap).join('\n');
}

/** The minimum width for breaking lines: on a narrower terminal, most of each line would be empty. */
const minColumns = 30;

/** Splits a line into words and commands that must not be broken; each part includes the spaces before it. */
function unbreakableParts(line: string): readonly string[] {
  const [command = ''] = /(?<=: )(?:cloudctl|psql) [^`]*$/.exec(line) ?? [];
  const prose = line.slice(0, line.length - command.length);
  return [...(prose.match(/ *(?:`[^`]*`|[^ `])+/g) ?? []), ...(command === '' ? [] : [` ${command}`])];
}
