import { isExactNumber } from '../../exact.ts';
import type { Cell } from '../columns.ts';

/** Encodes one record with its CRLF, as RFC 4180 section 2 has it; an absent value is an empty field. */
export type CsvRecordEncoder = (cells: readonly Cell[]) => string;

export async function createCsvRecordEncoder(): Promise<CsvRecordEncoder> {
  const { stringify } = await import('csv-stringify/sync');
  return (cells) =>
    stringify([cells.map((cell) => (isExactNumber(cell) ? String(cell) : (cell ?? '')))], {
      record_delimiter: 'windows',
      cast: { boolean: String },
      // A line break of either kind alone needs quotes, too; and a record of one empty field would be an empty line.
      quoted_match: cells.length === 1 ? /[\r\n]|^$/ : /[\r\n]/,
    });
}
