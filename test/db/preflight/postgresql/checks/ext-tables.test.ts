import { extensionTablesCheck } from '../../../../../src/db/preflight/postgresql/checks/ext-tables.ts';
import { forBothMethods, testDatabaseCases } from '../database-cases.ts';

const blocked = 'fail continuous';

testDatabaseCases([
  { what: 'tables of extensions', ...forBothMethods(extensionTablesCheck, { filledTables: [] }), verdict: 'pass' },
  {
    what: 'filled tables of extensions',
    ...forBothMethods(extensionTablesCheck, {
      filledTables: [{ name: 'public.spatial_ref_sys', extension: 'postgis' }],
    }),
    verdict: blocked,
    dumped: 'info',
  },
]);
