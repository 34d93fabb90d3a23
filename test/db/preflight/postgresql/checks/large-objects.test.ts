import { expect, test } from 'vitest';
import { largeObjectsCheck } from '../../../../../src/db/preflight/postgresql/checks/large-objects.ts';
import { forBothMethods, testDatabaseCases } from '../database-cases.ts';
import { preflightOptions, sourceFacts } from '../facts.ts';

testDatabaseCases([
  { what: 'no large objects', ...forBothMethods(largeObjectsCheck, { largeObjects: 0, uses: [] }), verdict: 'pass' },
  {
    what: 'large objects',
    ...forBothMethods(largeObjectsCheck, { largeObjects: 2, uses: [] }),
    verdict: 'warn',
    dumped: 'info',
  },
  {
    what: 'a function that creates large objects, and none so far',
    ...forBothMethods(largeObjectsCheck, { largeObjects: 0, uses: ['function public.save(bytea)'] }),
    verdict: 'warn',
    dumped: 'pass',
  },
]);

test('a count that reached its limit is reported as such', () => {
  expect(
    largeObjectsCheck.evaluate({ largeObjects: 100_001, uses: [] }, 'd1', sourceFacts(), preflightOptions()).observed,
  ).toBe('more than 100000 large objects');
});
