import { expect, it, test } from 'vitest';
import { readInventoryOptions } from '../../../src/db/inventory/options.ts';
import { argsFrom } from '../../fixtures/command-io.ts';

const read = (words: Readonly<Record<string, readonly string[]>>) => readInventoryOptions(argsFrom(words, ['-']));

it('an inventory has defaults', () => {
  expect(read({})).toMatchObject({ file: '-', parallel: 16, perServer: 2, deadline: 60_000, reports: [] });
});

test.each<Readonly<Record<string, readonly string[]>>>([
  { parallel: ['0'] },
  { 'parallel-per-server': ['x'] },
  { deadline: ['0s'] },
  { report: ['r.xml'] },
  { report: ['r.sarif'] },
])('%j is refused', (words) => {
  expect(() => read(words)).toThrow(expect.objectContaining({ code: 'usage' }));
});
