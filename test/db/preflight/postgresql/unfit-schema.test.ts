import { expect, test } from 'vitest';
import { type Postgres, ready, startPostgres } from '../../../fixtures/postgres.ts';
import { preflightServer } from './preflight.ts';

const asked = ['not-valid', 'time-checks', 'event-triggers', 'db-noconnect'];

test('a schema that no target accepts is blocked, the fixes correct it, and undo restores it', async () => {
  const server = await startPostgres({ version: 18, settings: ready });
  const setup = [
    'CREATE TABLE "The Table" (id int PRIMARY KEY, b int, until timestamptz, since date CHECK (since <= CURRENT_DATE))',
    'CREATE DOMAIN "A Word" AS text',
    'CREATE DOMAIN "Words" AS text',
    'CREATE TABLE words (id int PRIMARY KEY, word "A Word", all_of_them "Words"[])',
    `INSERT INTO "The Table" SELECT id, b, now() + interval '1 hour', '2020-01-01' FROM (VALUES (1, 200), (2, NULL)) v(id, b)`,
    `INSERT INTO words VALUES (1, 'far too long', '{a}')`,
    'ALTER TABLE "The Table" ADD CONSTRAINT "too big" CHECK (b < 10) NOT VALID',
    'ALTER TABLE "The Table" ADD CONSTRAINT there NOT NULL b NOT VALID',
    'ALTER TABLE "The Table" ADD CONSTRAINT "in time" CHECK (until > now())',
    `ALTER DOMAIN "A Word" ADD CONSTRAINT short CHECK (length(value) < 10) NOT VALID`,
    `ALTER DOMAIN "Words" ADD CONSTRAINT brief CHECK (length(value) < 10) NOT VALID`,
    `CREATE FUNCTION no() RETURNS event_trigger LANGUAGE plpgsql AS $$BEGIN RAISE EXCEPTION 'no DDL'; END$$`,
    'CREATE EVENT TRIGGER "No DDL" ON ddl_command_start WHEN TAG IN (\'CREATE PUBLICATION\') EXECUTE FUNCTION no()',
  ];
  await server.query('CREATE DATABASE d1');
  for (const statement of setup) await server.query(statement, 'd1');
  await server.query('ALTER DATABASE d1 IS_TEMPLATE true');

  const before = await preflightServer(server);
  const fixes = before.findings.filter(({ id, status }) => asked.includes(id) && status === 'fail');
  expect(fixes.map(({ id, objects }) => [id, objects])).toEqual([
    ['db-noconnect', undefined],
    ['event-triggers', ['No DDL']],
    [
      'not-valid',
      [
        'there on public."The Table"',
        'short on public."A Word"',
        '"too big" on public."The Table"',
        'brief on public."Words"',
      ],
    ],
    ['time-checks', ['"in time" on public."The Table" CHECK ((until > now()))']],
  ]);
  await expect(server.query('CREATE PUBLICATION p FOR ALL TABLES', 'd1')).rejects.toThrow('no DDL');

  // Twice: a script that broke off is run again.
  for (const _ of [1, 2])
    await say(
      server,
      fixes.flatMap(({ fix }) => fix?.sql ?? []),
    );
  const after = await preflightServer(server);
  expect(failed(after)).toEqual([]);
  // What is in arrays is in words.
  const drop = 'ALTER DOMAIN "public"."Words" DROP CONSTRAINT IF EXISTS "brief"';
  const left = after.findings.find(({ id }) => id === 'not-valid');
  expect(left).toMatchObject({ status: 'unknown', fix: { text: expect.stringContaining(`${drop}.`) } });
  // Expressions are not evaluated: the statements of the finding tell their owner that rows violate these.
  expect(left?.fix?.review).toHaveLength(2);
  for (const statement of left?.fix?.review ?? []) {
    await expect(server.query(statement, 'd1')).rejects.toThrow(/violate|contains values/);
  }
  await say(server, [
    drop,
    'ALTER DOMAIN public."A Word" DROP CONSTRAINT short',
    'ALTER TABLE public."The Table" DROP CONSTRAINT "too big"',
  ]);
  expect((await preflightServer(server)).findings.find(({ id }) => id === 'not-valid')?.status).toBe('pass');
  await server.query('CREATE PUBLICATION p FOR ALL TABLES', 'd1');

  await say(
    server,
    fixes.flatMap(({ fix }) => [...(fix?.undo ?? []), ...(fix?.undoReview ?? [])]),
  );
  expect(failed(await preflightServer(server))).toEqual(['db-noconnect', 'event-triggers', 'not-valid', 'time-checks']);
}, 60_000);

test('the expression of a NOT VALID constraint is not evaluated, whatever it calls', async () => {
  const server = await startPostgres({ version: 14, settings: ready });
  const setup = [
    'CREATE DOMAIN d AS numeric(8, 2)',
    'CREATE SEQUENCE run_for_it',
    `CREATE FUNCTION ran(int) RETURNS boolean IMMUTABLE LANGUAGE sql AS $$SELECT nextval('public.run_for_it') > 0$$`,
    'CREATE TABLE "T t" (id int PRIMARY KEY, "B b" int, w text, n d)',
    'INSERT INTO "T t" VALUES (1, 5, \'x\', 7), (2, NULL, NULL, NULL)',
    'CREATE TABLE "empty" (id int PRIMARY KEY)',
    'CREATE TABLE part (id int, v int) PARTITION BY RANGE (id)',
    'CREATE TABLE part1 PARTITION OF part FOR VALUES FROM (0) TO (9)',
    'INSERT INTO part VALUES (1, 1)',
  ];
  await server.query('CREATE DATABASE d1');
  for (const statement of setup) await server.query(statement, 'd1');
  const judged = async (owner: string, condition: string) => {
    await server.query(`ALTER ${owner} ADD CONSTRAINT c CHECK (${condition}) NOT VALID`, 'd1');
    const found = (await preflightServer(server)).findings.find(
      ({ id, database }) => id === 'not-valid' && database === 'd1',
    );
    await server.query(`ALTER ${owner} DROP CONSTRAINT c`, 'd1');
    return found?.status;
  };
  expect(await judged('TABLE "T t"', '"B b" < 100')).toBe('unknown');
  expect(await judged('TABLE "T t"', 'ran(id)')).toBe('unknown');
  expect(await judged('DOMAIN d', 'VALUE < 7')).toBe('unknown');
  expect(await judged('TABLE part', 'v > 1')).toBe('unknown');
  expect(await judged('TABLE "empty"', 'ran(id)')).toBe('info');
  expect(await server.query('SELECT is_called FROM run_for_it', 'd1')).toEqual([{ is_called: false }]);
}, 60_000);

test('what newer releases do not make is gone when the statements of the hint are pasted in', async () => {
  const server = await startPostgres({ version: 13, settings: ready });
  const setup = [
    `CREATE AGGREGATE "Arr"(anyelement) (SFUNC = array_append, STYPE = anyarray, INITCOND = '{}')`,
    'CREATE FUNCTION fac(int) RETURNS numeric LANGUAGE sql IMMUTABLE AS $$SELECT $1::numeric$$',
    'CREATE OPERATOR !!! (LEFTARG = int, FUNCTION = fac)',
    'CREATE MATERIALIZED VIEW "M v" AS SELECT buffers_backend FROM pg_stat_bgwriter',
  ];
  await server.query('CREATE DATABASE d1');
  for (const statement of setup) await server.query(statement, 'd1');
  const judged = async () => (await preflightServer(server)).findings.find(({ id }) => id === 'removed-types');
  const before = await judged();
  expect(before?.objects).toEqual([
    'aggregate public."Arr"(anyelement) (anycompatible instead of anyarray, since 14)',
    expect.stringMatching(/^operator public\.!!!\(integer,NONE\) \(.+, since 14\)$/),
    'materialized view public."M v" (column pg_stat_bgwriter.buffers_backend, since 17)',
  ]);
  const [, drops = ''] = /\((DROP .*)\)(?:\.|,| )/.exec(before?.fix?.text ?? '') ?? [];
  await say(server, drops.split('; '));
  expect((await judged())?.status).toBe('pass');
}, 60_000);

test('functions that a newer version rejects are altered or listed to be dropped', async () => {
  const server = await startPostgres({ version: 13, settings: ready });
  const setup = [
    "CREATE FUNCTION gone() RETURNS boolean LANGUAGE internal AS 'pg_is_in_backup'",
    "CREATE FUNCTION stays(float8) RETURNS float8 LANGUAGE internal AS 'dsin'",
    `CREATE FUNCTION "Set"() RETURNS int LANGUAGE sql SET operator_precedence_warning = on SET force_parallel_mode = off SET jit = off AS 'SELECT 1'`,
    `CREATE PROCEDURE p() LANGUAGE sql SET vacuum_cleanup_index_scale_factor = 1 AS 'SELECT 1'`,
  ];
  await server.query('CREATE DATABASE d1');
  for (const statement of setup) await server.query(statement, 'd1');
  const to = async (targetVersion: string) =>
    (await preflightServer({ port: server.port, options: { targetVersion } })).findings.find(
      ({ id }) => id === 'removed-types',
    );
  const { status, objects, fix } = (await to('17')) ?? {};
  expect(status).toBe('fail');
  expect(objects).toEqual([
    'function public."Set"() (setting force_parallel_mode, since 16; setting operator_precedence_warning, since 14)',
    'function public.gone() (internal function pg_is_in_backup, since 15)',
    'procedure public.p() (setting vacuum_cleanup_index_scale_factor, since 14)',
  ]);
  expect(fix?.text).toContain('DROP FUNCTION public.gone(); ');
  expect(fix?.text).toContain('ALTER FUNCTION … RESET');
  await say(server, [
    'DROP FUNCTION gone()',
    'ALTER FUNCTION "Set"() RESET operator_precedence_warning',
    'ALTER FUNCTION "Set"() RESET force_parallel_mode',
    'ALTER PROCEDURE p() RESET ALL',
  ]);
  expect((await to('17'))?.status).toBe('pass');
}, 60_000);

test('a materialized view is no table of the copy', async () => {
  const setup = ['CREATE TABLE t (id int PRIMARY KEY)', 'CREATE MATERIALIZED VIEW v AS SELECT id FROM t'];
  const server = await startPostgres({ version: 17, settings: ready, setup });
  const report = await preflightServer({ ...server, options: { targetVersion: '18' } });
  expect(report.databases).toMatchObject([{ tables: 1 }]);
});

async function say(server: Postgres, statements: readonly string[]): Promise<void> {
  for (const statement of statements) await server.query(statement, 'd1');
}

function failed(report: Awaited<ReturnType<typeof preflightServer>>): readonly string[] {
  return report.findings.filter(({ id, status }) => asked.includes(id) && status === 'fail').map(({ id }) => id);
}
