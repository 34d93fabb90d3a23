import { pubExistingCheck } from '../../../../../src/db/preflight/postgresql/checks/pub-existing.ts';
import { forBothMethods, testDatabaseCases } from '../database-cases.ts';

testDatabaseCases([
  {
    what: 'a publication',
    ...forBothMethods(pubExistingCheck, { publications: [{ name: 'cdc', allTables: false }] }),
    verdict: 'info',
  },
  {
    what: 'a publication left by a migration',
    ...forBothMethods(pubExistingCheck, { publications: [{ name: 'aiven_db_migrate_1_pub', allTables: true }] }),
    verdict: 'pass',
  },
]);
