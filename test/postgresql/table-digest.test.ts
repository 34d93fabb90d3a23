import { expect, test } from 'vitest';
import { createTableDigestBuilder } from '../../src/postgresql/table-digest.ts';

function contentOf(...rows: readonly string[]) {
  const digest = createTableDigestBuilder();
  for (const row of rows) digest.add(Buffer.from(`${row}\n`));
  return digest.content();
}

test('a large row that arrives in parts is one row', () => {
  const digest = createTableDigestBuilder();
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
