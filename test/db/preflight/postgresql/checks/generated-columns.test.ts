import { generatedColumnsCheck } from '../../../../../src/db/preflight/postgresql/checks/generated-columns.ts';
import { forBothMethods, testDatabaseCases } from '../database-cases.ts';

testDatabaseCases([
  {
    what: 'no marked column',
    ...forBothMethods(generatedColumnsCheck, {
      columns: { generated: [], identity: [] },
      functionUses: [],
      functionBodies: [],
    }),
    verdict: 'pass',
  },
  {
    what: 'a generated column',
    ...forBothMethods(generatedColumnsCheck, {
      functionUses: [],
      functionBodies: [],
      columns: { generated: [{ table: 'public.t', column: 'g', virtual: true }], identity: [] },
    }),
    verdict: 'info',
  },
]);
