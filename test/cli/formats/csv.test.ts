import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createCsvRecordEncoder } from '../../../src/cli/formats.ts';
import { readCsv } from './read-csv.ts';

test('a record ends with LF, and only what must be quoted is', async () => {
  const record = await createCsvRecordEncoder();
  expect(record(['a', 1, true, false, null, undefined])).toBe('a,1,true,false,,\n');
  expect(record(['a,b', 'say "hi"', 'two\nlines', ' blank '])).toBe('"a,b","say ""hi""","two\nlines", blank \n');
});

test('a record of one empty field is not an empty line', async () => {
  const record = await createCsvRecordEncoder();
  expect(record([null])).toBe('""\n');
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
