import { describe, expect, test } from 'vitest';
import { dumpOptionsCheck } from '../../../../../src/db/preflight/postgresql/checks/dump-options.ts';
import { ready, startPostgres } from '../../../../fixtures/postgres.ts';
import { expectOutcomeText } from '../expect-text.ts';
import { preflightOptions, short, sourceFacts } from '../facts.ts';
import { found, preflightServer } from '../preflight.ts';

const names = ['index public.i'];
const grants = [{ signature: 'pg_is_in_backup()', since: 15 }];

test.each([
  { systemUserNames: [], builtInGrants: [], targetVersion: '17', verdict: 'pass' },
  { systemUserNames: names, builtInGrants: [], targetVersion: '15', verdict: 'pass' },
  { systemUserNames: names, builtInGrants: [], targetVersion: '16', verdict: 'unknown' },
  { systemUserNames: [], builtInGrants: grants, targetVersion: '14', verdict: 'pass' },
  { systemUserNames: [], builtInGrants: grants, targetVersion: '15', verdict: 'unknown' },
  { systemUserNames: names, builtInGrants: grants, targetVersion: undefined, verdict: 'unknown' },
])('$systemUserNames $builtInGrants to $targetVersion: $verdict', ({ targetVersion, verdict, ...values }) => {
  const outcome = dumpOptionsCheck.evaluate(values, 'd1', sourceFacts(), preflightOptions({ targetVersion }));
  expect(short(outcome)).toBe(verdict);
  if (verdict !== 'pass') expectOutcomeText(outcome);
});

describe.each([12, 15] as const)('on PostgreSQL %i', (version) => {
  test('every kind of definition is read, and names that are quoted or qualified are not reported', async () => {
    const server = await startPostgres({
      version,
      settings: ready,
      setup: [
        "CREATE TABLE t (id int PRIMARY KEY, system_user text UNIQUE DEFAULT 'system_user', CHECK (system_user <> 'x'))",
        'CREATE TABLE plain (system_user text PRIMARY KEY)',
        'CREATE TABLE r (id int PRIMARY KEY, system_user text REFERENCES t (system_user))',
        'CREATE INDEX i ON t (lower(system_user))',
        'CREATE STATISTICS s (ndistinct) ON id, system_user FROM t',
        'CREATE POLICY p ON t USING (system_user = current_user)',
        'CREATE VIEW v AS SELECT system_user FROM t',
        "CREATE FUNCTION f(system_user text) RETURNS int LANGUAGE sql AS 'SELECT 1'",
        'CREATE TABLE parts (system_user text) PARTITION BY LIST (system_user)',
        'GRANT EXECUTE ON FUNCTION pg_logical_emit_message(boolean, text, text) TO pg_monitor',
        'GRANT EXECUTE ON FUNCTION pg_logical_emit_message(boolean, text, bytea) TO PUBLIC',
        'GRANT EXECUTE ON FUNCTION pg_switch_wal() TO pg_monitor',
      ],
    });
    const { objects = [] } =
      found(await preflightServer({ ...server, options: { targetVersion: '17' } }), 'dump-options') ?? {};
    expect(objects.filter((object) => !object.includes('view'))).toEqual([
      'constraint r_system_user_fkey on public.r',
      'constraint t_system_user_check on public.t',
      'function public.f(text)',
      'index public.i',
      'partition key of public.parts',
      'policy p on public.t',
      'statistics s on public.t',
      'privileges on pg_logical_emit_message(boolean,text,text)',
    ]);
  }, 60_000);
});
