import { maxSanitizedTextLength, sanitizeReportLine } from './terminal-text.ts';

/**
 * Escapes text for a cell of a CSV report: one printable line, with an apostrophe before text that a spreadsheet would run as a
 * formula (https://owasp.org/www-community/attacks/CSV_Injection). A number is not a formula, so it is not changed.
 */
export function spreadsheetCell(text: string): string {
  const line = sanitizeReportLine(text, maxSanitizedTextLength);
  return /^[=+\-@\uff1d\uff0b\uff0d\uff20]/.test(line) && !/^[+-]?\d+(?:\.\d+)?$/.test(line) ? `'${line}` : line;
}
