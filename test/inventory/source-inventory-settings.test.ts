import { expect, it, test } from 'vitest';
import {
  readSourceInventorySettings,
  sourceInventoryOptionSpecs,
} from '../../src/inventory/source-inventory-settings.ts';
import { argsFrom } from '../fixtures/command-io.ts';

const read = (words: Readonly<Record<string, readonly string[]>>) => readSourceInventorySettings(argsFrom(words));
const usage = expect.objectContaining({ code: 'usage' });

it('one source is no inventory, and an inventory has defaults', () => {
  expect(read({ source: ['postgres://u@h/d'] })).toBeUndefined();
  expect(read({ sources: ['-'] })).toMatchObject({ sources: '-', parallel: 16, perServer: 2, lease: 60_000 });
});

test.each(
  ['source', 'host', 'password-stdin', 'deep', 'fix-sql', 'ignore-dbs', 'sarif-uri', 'lease'].map((name) => ({ name })),
)('--$name cannot be used with --sources', ({ name }) => {
  expect(() => read({ sources: ['f'], [name]: ['x'] })).toThrow(usage);
});

test.each(
  sourceInventoryOptionSpecs.filter(({ name }) => name !== 'sources' && name !== 'queue').map(({ name }) => ({ name })),
)('--$name needs --sources', ({ name }) => {
  expect(() => read({ source: ['postgres://u@h/d'], [name]: ['x'] })).toThrow(usage);
});

test.each([
  { words: { queue: ['q'], probe: [''] } },
  { words: { queue: ['q'], sources: ['f'], probe: [''] } },
  { words: { queue: ['q'], baseline: ['b'] } },
  { words: { queue: ['q'], strict: [''] } },
  { words: { queue: ['a b'] } },
  { words: { queue: ['q'], lease: ['0s'] } },
  { words: { sources: ['f'], parallel: ['0'] } },
  { words: { sources: ['f'], 'parallel-per-server': ['x'] } },
  { words: { sources: ['f'], report: ['r.xml'] } },
  { words: { sources: ['f'], report: ['r.sarif'] } },
])('$words is refused', ({ words }) => {
  const given = Object.fromEntries(
    Object.entries(words).filter((entry): entry is [string, string[]] => entry[1] !== undefined),
  );
  expect(() => read(given)).toThrow(usage);
});

it('the machine that fills a queue decides what is checked', () => {
  expect(read({ queue: ['q'], sources: ['f'], strict: [''], 'target-version': ['17'] })).toMatchObject({ queue: 'q' });
  expect(read({ queue: ['q'], parallel: ['3'], report: ['r.html'] })).toMatchObject({
    parallel: 3,
    sources: undefined,
  });
});
