import { createTextMeasurerForTexts } from './text-measurer.ts';
import { wrapWords } from './wrap-words.ts';

/**
 * Breaks the lines of a text between words, so that a terminal does not break them inside a word. Continued lines are
 * indented.
 * @param columns the width of the terminal; undefined: not a terminal, the text is returned unchanged
 */
export async function wrapForTerminal(text: string, columns: number | undefined): Promise<string> {
  if (columns === undefined || columns < minColumns) return text;
  const ruler = await createTextMeasurerForTexts([text]);
  const wrap = (line: string): string =>
    wrapWords(line, columns, line.search(/[^ ]|$/) + 2, (part) => ruler.measure(part));
  return text.split('\n').map(wrap).join('\n');
}

/** The minimum width for breaking lines: on a narrower terminal, most of each line would be empty. */
const minColumns = 30;
