import { identityColumnsCheck } from '../../../../../src/db/preflight/postgresql/checks/identity-columns.ts';
import { forBothMethods, testDatabaseCases } from '../database-cases.ts';

testDatabaseCases([
  {
    what: 'no identity column',
    ...forBothMethods(identityColumnsCheck, {
      columns: { generated: [], identity: [] },
      functionUses: [],
      functionBodies: [],
    }),
    verdict: 'pass',
  },
  {
    what: 'an identity column',
    ...forBothMethods(identityColumnsCheck, { columns: { generated: [], identity: ['public.t.a'] } }),
    verdict: 'info',
  },
]);
