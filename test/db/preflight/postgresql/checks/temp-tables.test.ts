import { tempTablesCheck } from '../../../../../src/db/preflight/postgresql/checks/temp-tables.ts';
import { forBothMethods, relations, testDatabaseCases } from '../database-cases.ts';

testDatabaseCases([
  { what: 'no temporary table', ...forBothMethods(tempTablesCheck, relations()), verdict: 'pass' },
  {
    what: 'a temporary table',
    ...forBothMethods(tempTablesCheck, relations({ temporary: ['pg_temp_3.t'] })),
    verdict: 'info',
  },
]);
