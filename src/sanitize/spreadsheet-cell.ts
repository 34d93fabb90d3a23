import { maxTextLength, sanitizeReportLine } from './terminal-text.ts';

/**
 * A text cell of a report in CSV: one printable line, with an apostrophe before what a spreadsheet would run as a formula
 * (https://owasp.org/www-community/attacks/CSV_Injection). A number is not a formula and stays as it is.
 */
export function spreadsheetCell(text: string): string {
  const line = sanitizeReportLine(text, maxTextLength);
  return /^[=+\-@\uff1d\uff0b\uff0d\uff20]/.test(line) && !/^[+-]?\d+(?:\.\d+)?$/.test(line) ? `'${line}` : line;
}
