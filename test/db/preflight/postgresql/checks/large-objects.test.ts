import { expect, test } from 'vitest';
import { largeObjectsCheck } from '../../../../../src/db/preflight/postgresql/checks/large-objects.ts';
import { forBothMethods, testDatabaseCases } from '../database-cases.ts';
import { preflightOptions, sourceFacts } from '../facts.ts';

testDatabaseCases([
  { what: 'no large objects', ...forBothMethods(largeObjectsCheck, { largeObjects: 0 }), verdict: 'pass' },
  { what: 'large objects', ...forBothMethods(largeObjectsCheck, { largeObjects: 2 }), verdict: 'warn', dumped: 'info' },
]);

test('a count that reached its limit is reported as such', () => {
  expect(largeObjectsCheck.evaluate({ largeObjects: 100_001 }, 'd1', sourceFacts(), preflightOptions()).observed).toBe(
    'more than 100000 large objects',
  );
});
