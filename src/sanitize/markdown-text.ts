import { maxTextLength, sanitizeReportLine } from './terminal-text.ts';
import { replaceUnprintable } from './unprintable-characters.ts';

/** One line of text for a paragraph, a heading or a list item (https://github.github.com/gfm/). */
export function escapeMarkdown(text: string): string {
  return (
    sanitizeReportLine(text, maxTextLength)
      .replace(/[\\*_[\]<>|#`~]|&(?=#?\w+;)/g, '\\$&')
      // At the start of a line these begin a list, a rule or the underline of a heading.
      .replace(/^[-+=](?=[-+= ]|$)/, '\\$&')
      .replace(/^\d+(?=[.)](?: |$))/, '$&\\')
  );
}

/** A code span of one line, with more backticks around it than inside. */
export function markdownCode(text: string): string {
  const line = replaceUnprintable(text.replace(/[\t\n]/g, ' '));
  const longest = longestRun(line);
  const fence = '`'.repeat(longest + 1);
  // The spaces are removed again (§6.3), also where the text itself begins and ends with one.
  return longest === 0 && !/^ .* $/.test(line) && line !== '' ? `${fence}${line}${fence}` : `${fence} ${line} ${fence}`;
}

/** A code span in a cell of a table, where only an escaped `|` does not end the cell. */
export function markdownCodeCell(text: string): string {
  return markdownCode(text).replaceAll('|', '\\|');
}

/** A fenced block of code. */
export function markdownCodeBlock(body: string, language: string): string {
  const text = replaceUnprintable(body);
  const fence = '`'.repeat(Math.max(2, longestRun(text)) + 1);
  return `${fence}${language}\n${text}${text.endsWith('\n') ? '' : '\n'}${fence}`;
}

function longestRun(text: string): number {
  return Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
}
