import { foreignTablesCheck } from '../../../../../src/db/preflight/postgresql/checks/foreign-tables.ts';
import { forBothMethods, relations, testDatabaseCases } from '../database-cases.ts';

testDatabaseCases([
  { what: 'no foreign table', ...forBothMethods(foreignTablesCheck, relations()), verdict: 'pass' },
  {
    what: 'a foreign table',
    ...forBothMethods(foreignTablesCheck, relations({ foreign: ['public.f'] })),
    verdict: 'info',
  },
]);
