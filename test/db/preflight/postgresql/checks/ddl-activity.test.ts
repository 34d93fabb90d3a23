import { test } from 'vitest';
import { ddlActivityCheck } from '../../../../../src/db/preflight/postgresql/checks/ddl-activity.ts';
import { expectGolden } from '../../../../fixtures/golden.ts';
import { forBothMethods, testDatabaseCases } from '../database-cases.ts';
import { preflightOptions, sourceFacts } from '../facts.ts';

/** Whether the server records when tables change. */
const overview = (present: readonly 'commit-times'[] = ['commit-times']) => ({
  ...{ bytes: 1, tables: 1, relations: 1, sequences: 0 },
  present: new Set(present),
});
const quiet = { extensions: [], overview: overview(), recentDdl: [], bodies: [], maintained: [] };
const maker = { by: 'public.f()', statements: ['CREATE TABLE'], partition: false };

testDatabaseCases([
  { what: 'a quiet schema', ...forBothMethods(ddlActivityCheck, quiet), verdict: 'pass' },
  {
    what: 'a server that does not record when tables change',
    ...forBothMethods(ddlActivityCheck, { ...quiet, overview: overview([]) }),
    verdict: 'skip',
  },
  {
    what: 'the mere presence of an extension that can make tables',
    ...forBothMethods(ddlActivityCheck, {
      ...quiet,
      extensions: [{ name: 'pg_partman', version: '5', schema: 'public', hasUserRows: false }],
    }),
    verdict: 'pass',
  },
  {
    what: 'an extension that maintains partitions',
    ...forBothMethods(ddlActivityCheck, {
      ...quiet,
      overview: overview([]),
      maintained: [{ by: 'the maintenance of pg_partman', statements: ['CREATE TABLE'], partition: true }],
    }),
    verdict: 'unknown',
  },
  {
    what: 'an extension that makes none',
    ...forBothMethods(ddlActivityCheck, {
      ...quiet,
      extensions: [{ name: 'hstore', version: '1', schema: 'public', hasUserRows: false }],
    }),
    verdict: 'pass',
  },
  {
    what: 'a table altered today',
    ...forBothMethods(ddlActivityCheck, { ...quiet, recentDdl: ['public.t'] }),
    verdict: 'warn',
    dumped: 'info',
  },
  {
    what: 'a function that creates a table',
    ...forBothMethods(ddlActivityCheck, { ...quiet, overview: overview([]), bodies: [maker] }),
    verdict: 'unknown',
  },
  {
    what: 'a function of a trigger that creates a table, and a table altered today',
    ...forBothMethods(ddlActivityCheck, {
      ...quiet,
      recentDdl: ['public.t'],
      bodies: [{ ...maker, triggerOf: 'public.m' }],
    }),
    verdict: 'unknown',
  },
]);

test('the premise names the functions, and the objects say what they do and that a trigger runs them', () => {
  const bodies = ['a', 'b', 'c', 'd'].map((name) => ({ ...maker, by: `public.${name}()` }));
  const found = ddlActivityCheck.evaluate(
    { ...quiet, bodies: [{ ...maker, triggerOf: 'public.m' }, ...bodies] },
    'd1',
    sourceFacts(),
    preflightOptions(),
  );
  expectGolden('db-preflight', [found.premise, ...(found.objects ?? []).slice(0, 2)].join('\n'));
});
