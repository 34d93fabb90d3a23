import { isLossless, stringifyExact } from '../base/exact.ts';
import { escapeUnprintable, sanitizeLine } from '../base/sanitize.ts';
import type { CellValue } from './columns.ts';
import { measurerFor, type TextMeasurer } from './text.ts';

/**
 * Formats data as JSON with an indentation of two spaces and a final newline. Characters that control a terminal are written as
 * JSON escapes, which does not change the data.
 */
export function jsonDocument(data: unknown): string {
  return `${escapeUnprintable(stringifyExact(data, 2) ?? 'null')}\n`;
}

/** Returns the text between the brackets of a JSON array with at least one element. */
export function jsonElements(many: readonly unknown[]): string {
  return escapeUnprintable((stringifyExact(many, 2) ?? '').slice('[\n'.length, -'\n]'.length));
}

/** Formats a value as NDJSON: one JSON text on one line (https://github.com/ndjson/ndjson-spec). */
export function ndjsonLine(data: unknown): string {
  return ndjsonLines([data]);
}

/** Prints one NDJSON line for each value. */
export function ndjsonLines(many: readonly unknown[]): string {
  const texts = many.map((data) => stringifyExact(data) ?? 'null');
  return texts.length === 0 ? '' : `${escapeUnprintable(texts.join('\n'))}\n`;
}

/**
 * Encodes one record as in RFC 4180 section 2, but with LF at its end: `read` of a shell would leave CR in the last field. An
 * absent value is encoded as an empty CSV field.
 */
export type CsvEncoder = (cells: readonly CellValue[]) => string;

export async function csvEncoder(): Promise<CsvEncoder> {
  const { stringify } = await import('csv-stringify/sync');
  return (cells) =>
    stringify([cells.map((cell) => (isLossless(cell) ? String(cell) : (cell ?? '')))], {
      record_delimiter: 'unix',
      cast: { boolean: String },
      // A field with a CR or LF is quoted. A single empty field is quoted too, because an empty line would not be a record.
      quoted_match: cells.length === 1 ? /[\r\n]|^$/ : /[\r\n]/,
    });
}

interface TextTable {
  /** The column names; absent for a table without a header. */
  readonly header?: readonly string[] | undefined;
  readonly rows: readonly (readonly string[])[];
  /** The width of the terminal in characters; undefined when the output is not a terminal, so that nothing is cut. */
  readonly width?: number | undefined;
  /**
   * The priority of each column: in a table that is too wide, the column with the greatest number is omitted first, and a
   * column without a number never.
   */
  readonly priorities?: readonly (number | undefined)[];
  /** Adds colour to a cell after it was measured and cut. @param row the row; undefined for the header */
  readonly style?: (text: string, column: number, row: number | undefined) => string;
}

/** Formats columns that are two spaces apart and aligned by display width, with a newline after each row. */
export async function formatTable({ header, rows, width, priorities = [], style }: TextTable): Promise<string> {
  const lines = [...(header === undefined ? [] : [header]), ...rows].map((line) =>
    line.map((cell) => sanitizeLine(cell, maxCellLength)),
  );
  const rule = await measurerFor(lines.flat());
  const widths = columnWidths(lines, rule);
  const kept = width === undefined ? [...widths.keys()] : columnsThatFit(widths, priorities, width);
  const keptWidths = kept.map((column) => widths[column]!);
  const shares = width === undefined ? keptWidths : shrinkWidths(keptWidths, width);
  const first = header === undefined ? 0 : 1;
  return lines
    .map((line, at) => {
      const cells = kept.flatMap((column) => (column < line.length ? [line[column]!] : []));
      const row = at < first ? undefined : at - first;
      const styled =
        style === undefined ? undefined : (text: string, index: number) => style(text, kept[index] ?? index, row);
      return `${formatRow(cells, shares, rule, width, styled)}\n`;
    })
    .join('');
}

/** The columns to print: the least important ones are omitted completely until the rest fits the terminal. */
function columnsThatFit(
  widths: readonly number[],
  priorities: readonly (number | undefined)[],
  width: number,
): readonly number[] {
  let kept = [...widths.keys()];
  for (;;) {
    const total = kept.reduce((sum, column) => sum + widths[column]!, 0) + gap.length * (kept.length - 1);
    const optional = kept.filter((column) => priorities[column] !== undefined);
    if (total <= width || optional.length === 0) return kept;
    const least = optional.reduce((one, other) => (priorities[other]! >= priorities[one]! ? other : one));
    kept = kept.filter((column) => column !== least);
  }
}

// The maximum length of a cell: longer text is a mistake or an attack, so it is cut.
const maxCellLength = 10_000;
const gap = '  ';
/** On a narrow terminal, only columns wider than this number of characters are shortened. */
const minShrinkWidth = 24;

function formatRow(
  cells: readonly string[],
  widths: readonly number[],
  rule: TextMeasurer,
  width: number | undefined,
  style: ((text: string, index: number) => string) | undefined,
): string {
  const texts = cells.map((cell, at) => rule.truncate(cell, widths[at]!));
  const padded = (styled: readonly string[]) =>
    styled
      .map((text, at) => text + ' '.repeat(Math.max(0, widths[at]! - rule.measure(texts[at]!))))
      .join(gap)
      .trimEnd();
  const text = padded(texts);
  if (width !== undefined && rule.measure(text) > width) return rule.truncate(text, width);
  return style === undefined ? text : padded(texts.map((one, at) => (one === '' ? one : style(one, at))));
}

function columnWidths(lines: readonly (readonly string[])[], rule: TextMeasurer): readonly number[] {
  const widths: number[] = [];
  for (const line of lines) {
    for (const [at, cell] of line.entries()) widths[at] = Math.max(widths[at] ?? 0, rule.measure(cell));
  }
  return widths;
}

function shrinkWidths(widths: readonly number[], width: number): readonly number[] {
  const shares = [...widths];
  let surplus = shares.reduce((sum, share) => sum + share, 0) + gap.length * (shares.length - 1) - width;
  while (surplus > 0) {
    const widest = shares.indexOf(Math.max(...shares));
    if (shares[widest]! <= minShrinkWidth) break;
    shares[widest]! -= 1;
    surplus -= 1;
  }
  return shares;
}
