import { systemTablesCheck } from '../../../../../src/db/preflight/postgresql/checks/system-tables.ts';
import { forBothMethods, testDatabaseCases } from '../database-cases.ts';

const blocked = 'fail continuous';

testDatabaseCases([
  {
    what: 'no table among those of the system',
    ...forBothMethods(systemTablesCheck, { systemTables: [], systemObjects: [], changedCasts: [] }),
    verdict: 'pass',
  },
  {
    what: 'a table among those of the system',
    ...forBothMethods(systemTablesCheck, {
      systemObjects: [],
      changedCasts: ['cast from integer to boolean'],
      systemTables: [{ name: 'information_schema.t', schema: 'information_schema', moved: 'public.t' }],
    }),
    verdict: blocked,
  },
  {
    what: 'a cast of PostgreSQL that was changed',
    ...forBothMethods(systemTablesCheck, {
      systemTables: [],
      systemObjects: [],
      changedCasts: ['cast from integer to boolean'],
    }),
    verdict: 'unknown',
  },
]);
