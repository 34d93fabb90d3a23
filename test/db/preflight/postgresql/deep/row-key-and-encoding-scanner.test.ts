import { expect, test } from 'vitest';
import {
  createRowScanner,
  joinParts,
  type ScannerOptions,
} from '../../../../../src/db/preflight/postgresql/deep/rows.ts';

const seeds = [0x12345678, 0x9abcdef0] as const;

/** Feeds the parts, and returns what was found with the hashes of the keys, by row. */
function scan(parts: readonly string[], more: Partial<ScannerOptions> = {}) {
  const keys: string[] = [];
  const scanner = createRowScanner({
    keyColumns: 2,
    keys: [
      { columns: [0], nullsEqual: false },
      { columns: [0, 1], nullsEqual: true },
    ],
    onKey: (key, high, low) => void keys.push(`${key}:${high}.${low}`),
    seeds,
    encoding: 'UTF8',
    ...more,
  });
  for (const part of parts) scanner.add(Buffer.from(part, 'latin1'));
  return { keys, found: scanner.found };
}

test('rows are counted, whole or in parts, with the same hashes', () => {
  const whole = scan(['1\tab\tx\n', '22\tcd\ty\n']);
  expect(whole.found).toEqual({ rows: 2, bytes: 15, longestRow: 8, invalid: new Map() });
  expect(whole.keys).toHaveLength(4);
  expect(new Set(whole.keys).size).toBe(4);
  const inParts = scan([...'1\tab\tx\n', '22\tc', 'd\ty', '\n']);
  expect(inParts).toEqual(whole);
});

test('equal keys have equal hashes, whatever follows them', () => {
  const { keys } = scan(['7\ta\tx\n', '7\ta\tyy\n', '7\tb\n']);
  expect([keys[0], keys[1]]).toEqual([keys[2], keys[3]]);
  expect(keys[4]).toBe(keys[0]);
  expect(keys[5]).not.toBe(keys[1]);
});

test('fields are not shifted into each other', () => {
  const { keys } = scan(['a\tbc\n', 'ab\tc\n', '\tabc\n', 'abc\t\n']);
  expect(new Set(keys.filter((key) => key.startsWith('1'))).size).toBe(4);
});

test('a key with NULL is compared only if NULLs are equal', () => {
  const { keys } = scan(['\\N\ta\n', '\\N\ta\n', '\\\\N\ta\n', 'N\ta\n', '\\N1\ta\n']);
  const [first, ...others] = keys;
  expect(first?.startsWith('1:')).toBe(true);
  expect(others[0]).toBe(first);
  expect(others.filter((key) => key.startsWith('0:'))).toHaveLength(3);
});

test('the columns of invalid bytes are counted by row, also in parts', () => {
  const rows = ['1\tok\tok\n', '2\t\xff\xff\tok\n', '3\t\xe9\t\xe9\n', 'ok\t\xc3\xa9\n'];
  const invalid = new Map([
    [1, 2],
    [2, 1],
  ]);
  expect(scan(rows).found.invalid).toEqual(invalid);
  expect(scan([...rows.join('')]).found.invalid).toEqual(invalid);
  expect(scan(rows, { encoding: 'LATIN1' }).found.invalid).toEqual(new Map());
  expect(scan(rows, { encoding: undefined }).found.invalid).toEqual(new Map());
});

test('a table without columns, and one without keys', () => {
  expect(scan(['\n', '\n'], { keyColumns: 0, keys: [] }).found.rows).toBe(2);
});

test('a million keys have different hashes', () => {
  const seen = new Set<string>();
  const scanner = createRowScanner({
    ...{ keyColumns: 1, keys: [{ columns: [0], nullsEqual: false }], seeds },
    onKey: (_key, high, low) => void seen.add(`${high}.${low}`),
  });
  const row = Buffer.alloc(8);
  for (let number = 0; number < 1_000_000; number += 1) {
    row.write(`${number}\n`.padStart(8, '0'));
    scanner.add(row);
  }
  expect(seen.size).toBe(1_000_000);
});

test('parts of a row are joined; a row that is far too long for a key is left out', () => {
  const rows: string[] = [];
  const take = joinParts((row) => void rows.push(Buffer.from(row).toString()));
  const part = Buffer.from('a\tb');
  take(part);
  part.fill('x');
  take(Buffer.from('c\n'));
  take(Buffer.from('d\n'));
  for (let size = 0; size <= 16; size += 1) take(Buffer.alloc(2 ** 20, 'z'));
  take(Buffer.from('z\n'));
  take(Buffer.from('e\n'));
  expect(rows).toEqual(['a\tbc\n', 'd\n', 'e\n']);
});
