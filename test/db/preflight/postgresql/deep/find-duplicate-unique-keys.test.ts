import { expect, test } from 'vitest';
import { createKeyHashes } from '../../../../../src/db/preflight/postgresql/deep/key-hashes.ts';
import { findDuplicates, type KeyRereader } from '../../../../../src/db/preflight/postgresql/deep/results.ts';
import type { ComparableKey } from '../../../../../src/db/preflight/postgresql/deep/rows.ts';

const key: ComparableKey = { index: 'public.t_key', names: ['a', 'b'], columns: [0, 1], nullsEqual: false };

interface Row {
  readonly text: string;
  readonly hash: readonly [number, number];
}

/** The rows of a table with one key, and how often they were read again. */
async function compare(rows: readonly Row[], memory = 2 ** 20, isReadable = true) {
  let readings = 0;
  const hashes = createKeyHashes(memory);
  for (const { hash } of rows) hashes.add(...hash);
  const read: KeyRereader = (onKey) => {
    readings += 1;
    for (const { text, hash } of rows) onKey(0, ...hash, Buffer.from(`${text}\n`));
    return Promise.resolve(isReadable);
  };
  return { ...(await findDuplicates('public.t', [key], [hashes], read)), readings };
}

const row = (text: string, number: number): Row => ({
  text,
  hash: [Math.imul(number, 0x9e3779b1) >>> 0, Math.imul(number, 0x85ebca6b) >>> 0],
});

test('different hashes: the rows are not read again', async () => {
  expect(await compare([row('1\ta', 1), row('1\tb', 2)])).toEqual({ duplicates: [], unchecked: [], readings: 0 });
});

test('equal keys are counted', async () => {
  const rows = [row('1\ta', 1), row('1\ta', 1), row('1\ta', 1), row('2\ta', 2), row('3\ta', 3), row('3\ta', 3)];
  expect(await compare(rows)).toEqual({
    duplicates: [{ index: 'public.t_key', table: 'public.t', columns: ['a', 'b'], keys: 2, rows: 5 }],
    unchecked: [],
    readings: 1,
  });
});

test('different keys with equal hashes are no finding', async () => {
  expect(await compare([row('1\ta', 1), row('1\tb', 1)])).toMatchObject({ duplicates: [], readings: 1 });
});

test('equal keys are also found with too little memory for all hashes', async () => {
  const rows = Array.from({ length: 30_000 }, (_, at) => row(`${at}\ta`, at));
  const found = await compare([...rows, rows[7]!, rows[29_000]!], 2 ** 18);
  expect(found.duplicates).toMatchObject([{ keys: 2, rows: 4 }]);
  expect(found.readings).toBe(2);
});

test('with far too little memory, and when the rows cannot be read again, the key is unchecked', async () => {
  const many = Array.from({ length: 100_000 }, (_, at) => row(`${at}\ta`, at));
  expect(await compare(many, 2 ** 14)).toMatchObject({ duplicates: [], unchecked: [{ reason: 'too_many_rows' }] });
  const twice = [row('1\ta', 1), row('1\ta', 1)];
  expect(await compare(twice, 2 ** 20, false)).toMatchObject({
    duplicates: [],
    unchecked: [{ index: 'public.t_key', table: 'public.t', reason: 'table_not_read' }],
  });
});
