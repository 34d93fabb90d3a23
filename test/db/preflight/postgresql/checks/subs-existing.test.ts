import { expect, test } from 'vitest';
import { subsExistingCheck } from '../../../../../src/db/preflight/postgresql/checks/subs-existing.ts';
import { forBothMethods, testDatabaseCases } from '../database-cases.ts';
import { postgresqlTarget, preflightOptions, short, sourceFacts } from '../facts.ts';

testDatabaseCases([
  { what: 'no subscription', ...forBothMethods(subsExistingCheck, { subscriptions: [] }), verdict: 'pass' },
  {
    what: 'a subscription of another database',
    ...forBothMethods(subsExistingCheck, { subscriptions: [{ database: 'other', name: 's', enabled: true }] }),
    verdict: 'pass',
  },
  {
    what: 'a subscription',
    ...forBothMethods(subsExistingCheck, { subscriptions: [{ database: 'd1', name: 's', enabled: true }] }),
    verdict: 'warn',
  },
]);

test('a target without a superuser may refuse the subscription', () => {
  const target = { host: 't', port: 1, postgresql: postgresqlTarget({ isSuperuser: false }) };
  const subscriptions = [{ database: 'd1', name: 's', enabled: false }];
  const outcome = subsExistingCheck.evaluate({ subscriptions }, 'd1', sourceFacts(), preflightOptions({ target }));
  expect(short(outcome)).toBe('unknown');
});
