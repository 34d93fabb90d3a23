import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createCsvRecordEncoder } from '../../../src/cli/formats/csv.ts';

test('a record ends with CRLF, and only what must be quoted is', async () => {
  const record = await createCsvRecordEncoder();
  expect(record(['a', 1, true, false, null, undefined])).toBe('a,1,true,false,,\r\n');
  expect(record(['a,b', 'say "hi"', 'two\nlines', ' blank '])).toBe('"a,b","say ""hi""","two\nlines", blank \r\n');
});

test('a record of one empty field is not an empty line', async () => {
  const record = await createCsvRecordEncoder();
  expect(record([null])).toBe('""\r\n');
});

test('every record reads the same again by RFC 4180', async () => {
  const record = await createCsvRecordEncoder();
  const cell = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('"', ',', '\r\n', '\n', '\r', '""', '=1+1', ''));
  fc.assert(
    fc.property(fc.array(fc.array(cell, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 5 }), (rows) => {
      expect(readCsv(rows.map((cells) => record(cells)).join(''))).toEqual(rows);
    }),
    { numRuns: 500 },
  );
});

/** The grammar of RFC 4180 section 2, written down again. */
function readCsv(text: string): readonly (readonly string[])[] {
  const rows: string[][] = [];
  let at = 0;
  while (at < text.length) {
    const row: string[] = [];
    for (;;) {
      let cell = '';
      if (text[at] === '"') {
        at += 1;
        while (text[at] !== '"' || text[at + 1] === '"') {
          cell += text[at];
          at += text[at] === '"' ? 2 : 1;
        }
        at += 1;
      } else {
        while (text[at] !== ',' && !text.startsWith('\r\n', at)) {
          if (text[at] === '"' || text[at] === '\n' || text[at] === '\r' || text[at] === undefined)
            throw new Error('bare');
          cell += text[at];
          at += 1;
        }
      }
      row.push(cell);
      if (text[at] !== ',') break;
      at += 1;
    }
    if (!text.startsWith('\r\n', at)) throw new Error('a record must end with CRLF');
    at += 2;
    rows.push(row);
  }
  return rows;
}
