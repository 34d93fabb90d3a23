import { maxSanitizedTextLength, sanitizeReportLine } from './terminal-text.ts';
import { replaceUnprintable } from './unprintable-characters.ts';

/** Escapes one line of text for a Markdown paragraph, heading or list item (https://github.github.com/gfm/). */
export function escapeMarkdown(text: string): string {
  return (
    sanitizeReportLine(text, maxSanitizedTextLength)
      .replace(/[\\*_[\]<>|#`~]|&(?=#?\w+;)/g, '\\$&')
      // At the start of a line, these characters begin a list, a rule or the underline of a heading.
      .replace(/^[-+=](?=[-+= ]|$)/, '\\$&')
      .replace(/^\d+(?=[.)](?: |$))/, '$&\\')
  );
}

/** Creates a Markdown code span of one line, enclosed in more backticks than the text contains in a row. */
export function markdownCode(text: string): string {
  const line = replaceUnprintable(text.replace(/[\t\n]/g, ' '));
  const longest = longestRun(line);
  const fence = '`'.repeat(longest + 1);
  // A Markdown parser removes one space at each end of a code span (§6.3), so spaces are added where the text begins and ends
  // with a space.
  return longest === 0 && !/^ .* $/.test(line) && line !== '' ? `${fence}${line}${fence}` : `${fence} ${line} ${fence}`;
}

/** Creates a Markdown code span for a table cell, in which `|` must be escaped. */
export function markdownCodeCell(text: string): string {
  return markdownCode(text).replaceAll('|', '\\|');
}

/** Creates a fenced code block. */
export function markdownCodeBlock(body: string, language: string): string {
  const text = replaceUnprintable(body);
  const fence = '`'.repeat(Math.max(2, longestRun(text)) + 1);
  return `${fence}${language}\n${text}${text.endsWith('\n') ? '' : '\n'}${fence}`;
}

function longestRun(text: string): number {
  return Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
}
