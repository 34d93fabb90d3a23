import { isLosslessNumberObject } from '../../base/exact.ts';
import type { OutputCellValue } from '../columns.ts';

/**
 * Encodes one record as in RFC 4180 section 2, but with LF at its end: `read` of a shell would leave CR in the last field. An
 * absent value is encoded as an empty CSV field.
 */
export type CsvRecordEncoder = (cells: readonly OutputCellValue[]) => string;

export async function createCsvRecordEncoder(): Promise<CsvRecordEncoder> {
  const { stringify } = await import('csv-stringify/sync');
  return (cells) =>
    stringify([cells.map((cell) => (isLosslessNumberObject(cell) ? String(cell) : (cell ?? '')))], {
      record_delimiter: 'unix',
      cast: { boolean: String },
      // A field with a CR or LF is quoted. A single empty field is quoted too, because an empty line would not be a record.
      quoted_match: cells.length === 1 ? /[\r\n]|^$/ : /[\r\n]/,
    });
}
