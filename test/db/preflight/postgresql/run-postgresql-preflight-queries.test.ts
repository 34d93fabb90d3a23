import { expect, test } from 'vitest';
import type { PostgresqlQuery } from '../../../../src/db/preflight/postgresql/query.ts';
import { type QueriesOptions, runPostgresqlQueries } from '../../../../src/db/preflight/postgresql/run-queries.ts';
import { QueryError } from '../../../../src/postgresql/query-error.ts';
import { expectGolden } from '../../../fixtures/golden.ts';

const queryOf = (id: string, sql: string | undefined = `SELECT '${id}' AS v`): PostgresqlQuery<string> => ({
  id,
  scope: 'server',
  sql: () => sql,
  decode: ([row]) => row?.v ?? 'nothing',
  absent: 'absent',
  grant: (user) => `GRANT ${id} TO ${user}`,
});

const a = queryOf('a');
const b = queryOf('b');
const c = queryOf('c');

/** A server that returns the text of each statement as its row, and refuses statements that contain a given word. */
function optionsFor(
  refused: Readonly<Record<string, QueryError>>,
  sent: string[],
  left = () => 40_000,
): QueriesOptions {
  const session: QueriesOptions['session'] = {
    query: (text) => {
      const found = Object.entries(refused).find(([word]) => text.includes(word));
      if (found !== undefined) return Promise.reject(found[1]);
      const statements = text.split('; ');
      return Promise.resolve(statements.map((one) => (one.startsWith('SELECT') ? [{ v: one }] : [])));
    },
  };
  return {
    session,
    version: 170_000,
    context: { inRecovery: false, superuser: true },
    username: 'u',
    dbname: 'db',
    serverResults: new Map(),
    onSend: (text) => sent.push(text),
    left,
  };
}

test('all queries are sent in one read-only message that leaves no setting behind', async () => {
  const sent: string[] = [];
  const { results, lost } = await runPostgresqlQueries([a, b], optionsFor({}, sent));
  expect(sent).toEqual([
    "BEGIN ISOLATION LEVEL READ COMMITTED, READ ONLY, NOT DEFERRABLE; SET LOCAL role TO none; SET LOCAL search_path TO pg_catalog, pg_temp; SET LOCAL quote_all_identifiers='off'; SET LOCAL standard_conforming_strings='on'; SET LOCAL datestyle='ISO, MDY'; SET LOCAL intervalstyle='postgres'; SET LOCAL timezone='GMT'; SET LOCAL bytea_output='hex'; SET LOCAL extra_float_digits='3'; SET LOCAL lc_monetary='C'; SET LOCAL lc_numeric='C'; SET LOCAL lc_time='C'; SET LOCAL transaction_timeout='0'; SET LOCAL statement_timeout='15s'; SET LOCAL lock_timeout='1s'; SET LOCAL exit_on_error='off'; SET LOCAL work_mem='16MB'; SET LOCAL jit='off'; SELECT 'a' AS v; SELECT 'b' AS v; COMMIT",
  ]);
  expect(results.get(b)).toEqual({ kind: 'known', value: "SELECT 'b' AS v" });
  expect(lost).toBeUndefined();
});

test('a condition reads results of the server and the name of the database', async () => {
  const sent: string[] = [];
  const due: PostgresqlQuery<string> = {
    ...b,
    when: (known, dbname) => known(a) === 'earlier value' && dbname === 'db',
  };
  const serverResults = new Map([[a, { kind: 'known', value: 'earlier value' } as const]]);
  const idle: PostgresqlQuery<string> = { ...c, when: (_known, dbname) => dbname !== 'db' };
  const { results } = await runPostgresqlQueries([due, idle], { ...optionsFor({}, sent), serverResults });
  expect(results.get(due)).toEqual({ kind: 'known', value: "SELECT 'b' AS v" });
  expect(results.get(idle)).toEqual({ kind: 'known', value: c.absent });
  expect(results.has(a)).toBe(false);
});

test('only the denied query has no value, and its result has the grant', async () => {
  const sent: string[] = [];
  const denied = new QueryError('42501', 'permission denied for view b', false);
  const { results } = await runPostgresqlQueries([a, b, c], optionsFor({ "'b'": denied }, sent));
  expect(results.get(b)).toEqual({ kind: 'denied', reason: denied.message, grant: 'GRANT b TO u' });
  expect([results.get(a)?.kind, results.get(c)?.kind]).toEqual(['known', 'known']);
  // Each refused message is followed by a ROLLBACK.
  expect(sent.filter((text) => text === 'ROLLBACK')).toHaveLength(2);
  expect(sent).toHaveLength(6);
});

test('only the query that is too slow has no value', async () => {
  const slow = new QueryError('57014', 'canceling statement due to statement timeout', false);
  const { results } = await runPostgresqlQueries([a, b, c], optionsFor({ "'b'": slow }, []));
  expect(results.get(b)).toEqual({ kind: 'failed', reason: slow.message });
  expect(results.get(c)?.kind).toBe('known');
});

test('after a lost connection nothing is sent, and every result has the reason', async () => {
  const sent: string[] = [];
  const broken = new QueryError('ECONNRESET', 'the connection was closed', true);
  const { results, lost } = await runPostgresqlQueries([a, b], optionsFor({ "'b'": broken }, sent));
  expect(lost).toBe(broken);
  expect(sent).toHaveLength(1);
  expect(results.get(a)).toEqual({ kind: 'failed', reason: broken.message });
});

test('a query without SQL for the version is not sent', async () => {
  const sent: string[] = [];
  const none = { ...queryOf('none'), sql: () => undefined };
  const { results } = await runPostgresqlQueries([none], optionsFor({}, sent));
  expect(results.get(none)).toEqual({ kind: 'known', value: 'absent' });
  expect(sent).toEqual([]);
});

test('nothing is sent when the time has passed', async () => {
  const sent: string[] = [];
  const { results } = await runPostgresqlQueries(
    [a],
    optionsFor({}, sent, () => 0),
  );
  expect(sent).toEqual([]);
  const result = results.get(a);
  expect(result?.kind).toBe('failed');
  expectGolden('db-preflight', result !== undefined && 'reason' in result ? result.reason : '');
});

test('the second message has the queries whose condition is true, and no other', async () => {
  const sent: string[] = [];
  const due: PostgresqlQuery<string> = {
    ...queryOf('due'),
    when: (known) => known(a)?.includes("'a'") === true,
  };
  const idle: PostgresqlQuery<string> = { ...queryOf('idle'), when: (known) => known(a) === undefined };
  const { results } = await runPostgresqlQueries([due, a, idle], optionsFor({}, sent));
  expect(sent.map((text) => text.match(/SELECT '\w+'/g))).toEqual([["SELECT 'a'"], ["SELECT 'due'"]]);
  expect(results.get(due)).toEqual({ kind: 'known', value: "SELECT 'due' AS v" });
  expect(results.get(idle)).toEqual({ kind: 'known', value: 'absent' });
});

test('a condition on a query without a value can still be true', async () => {
  const sent: string[] = [];
  const due: PostgresqlQuery<string> = { ...queryOf('due'), when: (known) => known(a) === undefined };
  const slow = new QueryError('57014', 'canceling statement due to statement timeout', false);
  const { results } = await runPostgresqlQueries([a, due], optionsFor({ "'a'": slow }, sent));
  expect(results.get(a)).toEqual({ kind: 'failed', reason: slow.message });
  expect(results.get(due)).toEqual({ kind: 'known', value: "SELECT 'due' AS v" });
});

test('after a connection lost in the first message the second is not sent, and its results have the reason', async () => {
  const sent: string[] = [];
  const due: PostgresqlQuery<string> = { ...queryOf('due'), when: () => true };
  const broken = new QueryError('ECONNRESET', 'the connection was closed', true);
  const { results, lost } = await runPostgresqlQueries([a, due], optionsFor({ "'a'": broken }, sent));
  expect(lost).toBe(broken);
  expect(sent).toHaveLength(1);
  expect(results.get(due)).toEqual({ kind: 'failed', reason: broken.message });
});

test.each([
  ['schema pg_catalog', 'GRANT USAGE ON SCHEMA pg_catalog TO "u"'],
  ['view pg_roles', 'GRANT SELECT ON pg_catalog.pg_roles TO "u"'],
  ['table pg_database', 'GRANT SELECT ON pg_catalog.pg_database TO "u"'],
  // Only superusers may read these by default.
  ['view pg_file_settings', 'GRANT b TO u'],
  ['function pg_show_all_file_settings', 'GRANT b TO u'],
])('the grant for a denied %s is %s', async (what, grant) => {
  const denied = new QueryError('42501', `permission denied for ${what}`, false);
  const { results } = await runPostgresqlQueries([a, b], optionsFor({ "'b'": denied }, []));
  expect(results.get(b)).toMatchObject({ kind: 'denied', grant });
});

test('the reason of a lock timeout has a query for the holder of the lock', async () => {
  const locked = new QueryError('55P03', 'canceling statement due to lock timeout', false);
  const { results } = await runPostgresqlQueries([a, b], optionsFor({ "'b'": locked }, []));
  expect(results.get(b)).toMatchObject({ kind: 'failed', reason: expect.stringContaining('pg_locks') });
});
