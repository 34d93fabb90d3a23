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
  overloadedCalls: [],
  takenNames: [],
};

const priced = {
  object: 'default of public.a.c',
  call: 'public.price(integer)',
  other: 'public.price(integer,integer)',
  isAmbiguous: true,
  stores: false,
};

testDatabaseCases([
  { what: 'nothing removed', ...forBothMethods(removedTypesCheck, { ...kept, removedUses: [] }), verdict: 'pass' },
  {
    what: 'WITH OIDS',
    ...forBothMethods(removedTypesCheck, { ...kept, removedUses: [{ table: 'public.t', column: undefined }] }),
    verdict: 'fail continuous+dump',
  },
  {
    what: 'a view with moved columns, and a call of another function',
    ...forBothMethods(removedTypesCheck, {
      ...kept,
      removedUses: [],
      outdatedViews: [
        {
          object: 'view public.w',
          needs: 'the order of the columns of function pg_stat_statements(boolean)',
          since: 17,
        },
      ],
      overloadedCalls: [{ ...priced, isAmbiguous: false, stores: true }],
    }),
    verdict: 'unknown',
  },
  {
    what: 'a domain without the default of its base domain',
    ...forBothMethods(removedTypesCheck, {
      ...kept,
      removedUses: [],
      outdatedCalls: [{ object: 'domain public.discount', needs: 'a base domain without a default', since: 0 }],
    }),
    verdict: 'unknown',
  },
  {
    what: 'objects that can stay when they are altered',
    ...forBothMethods(removedTypesCheck, {
      ...kept,
      removedUses: [],
      outdatedDefinitions: [
        {
          object: 'trigger "RI_ConstraintTrigger_c_16413" on public.orders_1',
          needs: 'the state that the triggers of public.orders have',
          since: 0,
          says: 'trigger "RI_ConstraintTrigger_c_16413" for table "orders_1" does not exist',
        },
        {
          object: 'constraint customer on public.orders_1',
          needs: 'a name that the foreign key of public.orders does not have',
          since: 0,
          says: 'constraint "customer" for relation "orders_1" already exists',
        },
      ],
      outdatedExtensions: [
        {
          object: 'default value for public.t.id',
          needs: 'function util.uuid_generate_v4(), which the extension creates in schema public',
          since: 0,
          says: 'function util.uuid_generate_v4() does not exist',
        },
      ],
    }),
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
    what: 'a call that fits two functions',
    ...forBothMethods(removedTypesCheck, { ...kept, removedUses: [], overloadedCalls: [priced] }),
    verdict: 'fail continuous+dump',
  },
  {
    what: 'a call that may mean another function for stored rows',
    ...forBothMethods(removedTypesCheck, {
      ...kept,
      removedUses: [],
      overloadedCalls: [{ ...priced, isAmbiguous: false, stores: true }],
    }),
    verdict: 'unknown',
  },
  {
    what: 'a call that may mean another function in a view',
    ...forBothMethods(removedTypesCheck, {
      ...kept,
      removedUses: [],
      overloadedCalls: [{ ...priced, isAmbiguous: false }],
    }),
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
