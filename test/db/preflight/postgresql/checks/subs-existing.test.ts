import { subsExistingCheck } from '../../../../../src/db/preflight/postgresql/checks/subs-existing.ts';
import { forBothMethods, testDatabaseCases } from '../database-cases.ts';

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
