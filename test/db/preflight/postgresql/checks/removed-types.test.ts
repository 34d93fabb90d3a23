import { removedTypesCheck } from '../../../../../src/db/preflight/postgresql/checks/removed-types.ts';
import { forBothMethods, testDatabaseCases } from '../database-cases.ts';
import { preflightOptions, sourceFacts } from '../facts.ts';

const load = { object: 'view public.load', needs: 'column pg_stat_bgwriter.buffers_backend', since: 17 };

const kept = {
  outdatedViews: [],
  outdatedOperators: [],
  outdatedCalls: [],
  outdatedExtensions: [],
  outdatedDefinitions: [],
  outdatedFunctions: [],
};

testDatabaseCases([
  { what: 'nothing removed', ...forBothMethods(removedTypesCheck, { ...kept, removedUses: [] }), verdict: 'pass' },
  {
    what: 'WITH OIDS',
    ...forBothMethods(removedTypesCheck, { ...kept, removedUses: [{ table: 'public.t', column: undefined }] }),
    verdict: 'fail continuous+dump',
  },
  {
    what: 'a view that the target cannot make',
    continuous: removedTypesCheck.evaluate(
      { ...kept, removedUses: [], outdatedViews: [load] },
      'd1',
      sourceFacts(),
      preflightOptions({ targetVersion: '17' }),
    ),
    verdict: 'fail continuous+dump',
  },
  {
    what: 'a view that the target still makes',
    continuous: removedTypesCheck.evaluate(
      { ...kept, removedUses: [], outdatedViews: [load] },
      'd1',
      sourceFacts(),
      preflightOptions({ targetVersion: '16' }),
    ),
    verdict: 'pass',
  },
  {
    what: 'a view that a target may not make',
    continuous: removedTypesCheck.evaluate(
      { ...kept, removedUses: [], outdatedViews: [load] },
      'd1',
      sourceFacts(),
      preflightOptions({ targetVersion: undefined }),
    ),
    verdict: 'warn',
  },
  {
    what: 'a view that shows other columns on the target',
    continuous: removedTypesCheck.evaluate(
      {
        ...kept,
        removedUses: [],
        outdatedViews: [{ ...load, needs: 'the order of the columns of function pg_stat_statements(boolean)' }],
      },
      'd1',
      sourceFacts(),
      preflightOptions({ targetVersion: '17' }),
    ),
    verdict: 'unknown',
  },
]);
