import { expect, test } from 'vitest';
import { createDigestBuilder } from '../../src/postgresql/table-rows.ts';

function contentOf(...rows: readonly string[]) {
  const digest = createDigestBuilder();
  for (const row of rows) digest.add(Buffer.from(`${row}\n`));
  return digest.content();
}

test('a large row that arrives in parts is one row', () => {
  const digest = createDigestBuilder();
  for (const part of ['a', 'b', 'c\n', 'd\n', '\n']) digest.add(Buffer.from(part));
  expect(digest.content()).toEqual(contentOf('abc', 'd', ''));
});

test('the order of the rows does not matter, everything else does', () => {
  expect(contentOf()).toEqual({ rows: 0, digest: '0'.repeat(32) });
  expect(contentOf('a', 'b', 'a')).toEqual(contentOf('a', 'a', 'b'));
  expect(contentOf('a', 'b').digest).not.toBe(contentOf('a', 'c').digest);
  expect(contentOf('a', 'a').digest).not.toBe(contentOf('b', 'b').digest);
  expect(contentOf('a', 'a', 'b').digest).not.toBe(contentOf('a', 'b').digest);
});

test('rows that were chosen so that the SHA-256 hashes of both sets have the same sum have different digests', () => {
  // Found with a lattice reduction; a positive number is how often the row occurs in the one set, a negative in the other.
  const times = [
    ...[8, 6, -9, -7, -18, 3, -7, -3, 3, 22, 4, -6, 10, 2, -5, 5, 7, -2, 2, 8, -10, -5, 1, 4, -3, 3, -13, 4],
    ...[-4, -5, 3, 1, 1, -1, 1, -1, 1],
  ];
  const rows = (sign: number) =>
    times.flatMap((count, index) => Array<string>(Math.max(0, sign * count)).fill(`row ${index}`));
  expect(rows(1)).toHaveLength(rows(-1).length);
  expect(contentOf(...rows(1)).digest).not.toBe(contentOf(...rows(-1)).digest);
});

test('a last row without a line feed counts', () => {
  const digest = createDigestBuilder();
  digest.add(Buffer.from('a'));
  expect(digest.content().rows).toBe(1);
});

test('a large row has the same digest in one part and in several', () => {
  const text = 'x'.repeat(100_000);
  const digest = createDigestBuilder();
  for (const part of [text.slice(0, 7), `${text.slice(7)}\n`]) digest.add(Buffer.from(part));
  expect(digest.content()).toEqual(contentOf(text));
});
