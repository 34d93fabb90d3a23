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
      columns: { generated: [{ table: 'public.t', column: 'g', virtual: true, isReplaced: false }], identity: [] },
    }),
    verdict: 'info',
  },
  {
    what: 'a generated column whose parent has another expression',
    ...forBothMethods(generatedColumnsCheck, {
      functionUses: [],
      functionBodies: [],
      columns: { generated: [{ table: 'public.c', column: 'g', virtual: false, isReplaced: true }], identity: [] },
    }),
    verdict: 'fail continuous+dump',
  },
]);
