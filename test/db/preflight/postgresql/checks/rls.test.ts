import { expect, test } from 'vitest';
import { rlsCheck } from '../../../../../src/db/preflight/postgresql/checks/rls.ts';
import { forBothMethods, relations, testDatabaseCases } from '../database-cases.ts';
import { preflightOptions, sourceFacts } from '../facts.ts';

testDatabaseCases([
  { what: 'rows that all may see', ...forBothMethods(rlsCheck, relations()), verdict: 'pass' },
  {
    what: 'hidden rows',
    ...forBothMethods(rlsCheck, relations({ secured: [{ name: 'public.t', forced: false }] })),
    verdict: 'fail continuous+dump',
  },
]);

test('BYPASSRLS is given and taken back', () => {
  const facts = relations({ secured: [{ name: 'public.t', forced: true }] });
  expect(rlsCheck.evaluate(facts, 'd1', sourceFacts({ username: 'My"Role' }), preflightOptions()).fix).toMatchObject({
    sql: ['ALTER ROLE "My""Role" BYPASSRLS'],
    undo: ['ALTER ROLE "My""Role" NOBYPASSRLS'],
  });
});
