import { describe, expect, test } from 'vitest';
import { rlsCheck } from '../../../../../src/db/preflight/postgresql/checks/rls.ts';
import { forBothMethods, relations, testDatabaseCases } from '../database-cases.ts';
import { expectOutcomeText } from '../expect-text.ts';
import { postgresqlTarget, preflightOptions, short, sourceFacts } from '../facts.ts';

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

describe('FORCE ROW LEVEL SECURITY', () => {
  const of = (bypasses: boolean) => relations({ forced: [{ name: 'public."T"', bypasses }] });
  const read = (more: Parameters<typeof postgresqlTarget>[0]) => ({
    target: { host: 't', port: 1, postgresql: postgresqlTarget(more) },
  });
  const plain = { isSuperuser: false };
  test.each([
    { what: 'a target that was not read', bypasses: true, options: {}, verdict: 'unknown' },
    { what: 'an older target', bypasses: true, options: { targetVersion: '15' }, verdict: 'pass' },
    { what: 'a superuser, and an owner who may see all rows', bypasses: true, options: read({}), verdict: 'pass' },
    { what: 'a superuser, and another owner', bypasses: false, options: read({}), verdict: 'unknown' },
    { what: 'a login with BYPASSRLS', bypasses: false, options: read(plain), verdict: 'pass' },
    {
      what: 'a login without BYPASSRLS',
      bypasses: false,
      options: read({ ...plain, bypassesRls: false }),
      verdict: 'fail continuous+dump',
    },
  ])('$what: $verdict', ({ bypasses, options, verdict }) => {
    const outcome = rlsCheck.evaluate(of(bypasses), 'd1', sourceFacts(), preflightOptions(options));
    expect(short(outcome)).toBe(verdict);
    if (verdict === 'pass') return;
    expectOutcomeText(outcome);
    expect(outcome.fix?.sql).toEqual(['ALTER TABLE "public"."T" NO FORCE ROW LEVEL SECURITY']);
  });
});
