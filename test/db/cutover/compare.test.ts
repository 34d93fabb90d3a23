import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type CompareDatabasesOptions, compareDatabases } from '../../../src/db/cutover/compare.ts';
import { acceptTables, listAcceptable } from '../../../src/db/cutover/comparison.ts';
import { systemClock } from '../../../src/platform/waiting.ts';
import type { Postgres } from '../../fixtures/postgres.ts';
import { postgresEndpointOf, startSource, startTarget } from '../engine/servers.ts';

let source: Postgres;
let target: Postgres;

beforeAll(async () => {
  [source, target] = await Promise.all([startSource({ version: 14 }), startTarget({ version: 17 })]);
});

afterAll(async () => {
  await Promise.all([source?.stop(), target?.stop()]);
});

beforeEach(async () => {
  for (const server of [source, target]) {
    await server.query('DROP DATABASE IF EXISTS shop WITH (FORCE)');
    await server.query('CREATE DATABASE shop');
  }
});

const endpoint = (server: Postgres) => ({ engine: 'postgresql', source: postgresEndpointOf(server) }) as const;

const compare = (more: Partial<CompareDatabasesOptions> = {}) =>
  compareDatabases({
    ...{ source: endpoint(source), target: endpoint(target), ignoreDbs: ['postgres'], clock: systemClock },
    ...{ signal: new AbortController().signal, catchUpTimeout: 500, maxRounds: 2 },
    ...more,
  });

async function onBoth(sql: string): Promise<void> {
  for (const server of [source, target]) await server.query(sql, 'shop');
}

const statesOf = ({ databases }: Awaited<ReturnType<typeof compare>>) =>
  Object.fromEntries(databases.flatMap(({ tables }) => tables.map(({ name, state }) => [name, state])));

test('equal rows in another order are equal, and one other value is not', async () => {
  await onBoth('CREATE TABLE t (id int PRIMARY KEY, at timestamptz, f float8, b bytea, i interval)');
  const row = "(%, '2026-01-02 03:04:05+00', 0.1, '\\x00ff', '1 day')";
  await source.query(`INSERT INTO t VALUES ${row.replace('%', '1')}, ${row.replace('%', '2')}`, 'shop');
  await target.query(`INSERT INTO t VALUES ${row.replace('%', '2')}, ${row.replace('%', '1')}`, 'shop');
  await target.query("ALTER DATABASE shop SET timezone = 'Asia/Tokyo'");
  await target.query("ALTER DATABASE shop SET datestyle = 'German'");
  await source.query("ALTER DATABASE shop SET bytea_output = 'escape'");
  await source.query("ALTER DATABASE shop SET intervalstyle = 'iso_8601'");
  await source.query('ALTER DATABASE shop SET extra_float_digits = -10');
  expect(await compare()).toMatchObject({ state: 'equal', databases: [{ name: 'shop', state: 'equal' }] });
  await target.query('UPDATE t SET f = 0.1 + 1e-17 WHERE id = 1', 'shop');
  expect((await compare()).state).toBe('equal');
  await target.query('UPDATE t SET f = 0.10000000000000002 WHERE id = 1', 'shop');
  expect(statesOf(await compare())).toEqual({ 'public.t': 'differs' });
});

test('stored generated columns are compared, whatever computes them', async () => {
  await onBoth(`CREATE TABLE plain (id int PRIMARY KEY, twice int GENERATED ALWAYS AS (id * 2) STORED);
    CREATE TABLE other (n int); INSERT INTO other VALUES (1);
    CREATE FUNCTION reads(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT n + $1 FROM public.other';
    CREATE TABLE hidden (id int PRIMARY KEY, sum int GENERATED ALWAYS AS (reads(id)) STORED);
    INSERT INTO plain VALUES (1)`);
  await source.query('INSERT INTO hidden VALUES (1)', 'shop');
  await target.query('DELETE FROM other; INSERT INTO hidden VALUES (1); INSERT INTO other VALUES (1)', 'shop');
  const report = await compare();
  expect(statesOf(report)).toEqual({ 'public.hidden': 'differs', 'public.other': 'equal', 'public.plain': 'equal' });
  await target.query('UPDATE hidden SET id = id', 'shop');
  expect(await compare()).toMatchObject({ state: 'equal' });
});

test('a generated column is read only where no code of users runs; else its table is named, and accepted by name', async () => {
  await onBoth(`CREATE TABLE ran (n int);
    CREATE FUNCTION slug(t text) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT lower(t)';
    CREATE FUNCTION canary(text) RETURNS bool LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN true; END $$;
    CREATE DOMAIN checked AS text CHECK (canary(VALUE));
    CREATE TABLE predicate (name text, s text GENERATED ALWAYS AS (slug(name)) STORED);
    CREATE TABLE statistic (LIKE predicate INCLUDING GENERATED);
    CREATE TABLE typed (LIKE predicate INCLUDING GENERATED);
    CREATE TABLE policy (LIKE predicate INCLUDING GENERATED);
    CREATE TABLE plain (LIKE predicate INCLUDING GENERATED, CHECK (canary(name) OR canary('x')));
    CREATE INDEX ON predicate (name) WHERE canary('x');
    CREATE STATISTICS two ON (name || 'a'), (canary('x')) FROM statistic;
    CREATE INDEX ON typed ((name || 'x'::checked));
    CREATE INDEX ON plain (lower(name)) WHERE name <> 'x';
    INSERT INTO predicate VALUES ('A'); INSERT INTO statistic VALUES ('A'); INSERT INTO typed VALUES ('A');
    INSERT INTO policy VALUES ('A'); INSERT INTO plain VALUES ('A');
    ALTER TABLE policy ENABLE ROW LEVEL SECURITY; CREATE POLICY p ON policy USING (canary('x'));
    CREATE OR REPLACE FUNCTION canary(text) RETURNS bool LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RAISE 'canary'; END $$`);
  const unread = { state: 'not_comparable', columns_not_compared: ['s'], acceptable: true };
  const report = await compare();
  expect(report.databases[0]?.tables).toMatchObject([
    { name: 'public.plain', state: 'equal' },
    { name: 'public.policy', ...unread },
    { name: 'public.predicate', ...unread },
    { name: 'public.ran', state: 'equal' },
    { name: 'public.statistic', ...unread },
    { name: 'public.typed', ...unread },
  ]);
  for (const { error } of report.databases[0]?.tables ?? []) expect(error ?? '').not.toContain('canary');
  const accepted = ['policy', 'predicate', 'statistic', 'typed'].map((name) => `shop:public.${name}`);
  expect((await compare({ accepted: accepted.slice(1) })).state).toBe('not_comparable');
  expect((await compare({ accepted })).state).toBe('equal');
});

test('a generated column of a table without rows has no values that could differ', async () => {
  await onBoth(`CREATE FUNCTION slug(t text) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT lower(t)';
    CREATE TABLE n (id int PRIMARY KEY, name text, s text GENERATED ALWAYS AS (slug(name)) STORED)`);
  expect(await compare()).toMatchObject({ state: 'equal', databases: [{ tables: [{ state: 'equal' }] }] });
});

test('a table is not equal if the target has more columns, or computes a generated column in another way', async () => {
  await onBoth(`CREATE TABLE empty (id int); CREATE TABLE kept (id int PRIMARY KEY, gone int, note text);
    ALTER TABLE kept DROP COLUMN gone; INSERT INTO kept VALUES (1, 'a')`);
  await source.query(
    `CREATE TABLE computed (id int, n int GENERATED ALWAYS AS (id + 1) STORED); INSERT INTO computed VALUES (1);
     CREATE TABLE plain (id int, n int GENERATED ALWAYS AS (id + 1) STORED); INSERT INTO plain VALUES (1);
     CREATE TABLE more (id int); INSERT INTO more VALUES (1)`,
    'shop',
  );
  await target.query(
    `CREATE TABLE computed (id int, n int GENERATED ALWAYS AS (id + 2) STORED); INSERT INTO computed VALUES (1);
     CREATE TABLE plain (id int, n int); INSERT INTO plain VALUES (1, 7);
     CREATE TABLE more (note text DEFAULT 'x', id int); INSERT INTO more (id) VALUES (1);
     ALTER TABLE empty ADD note text`,
    'shop',
  );
  expect(statesOf(await compare())).toEqual({
    'public.computed': 'differs',
    'public.empty': 'equal',
    'public.kept': 'equal',
    'public.more': 'differs',
    'public.plain': 'differs',
  });
});

test('tables and sequences of one side only, and databases that the target lacks, differ', async () => {
  await source.query('CREATE TABLE a (id serial)', 'shop');
  await target.query('CREATE TABLE b (id serial); INSERT INTO b DEFAULT VALUES', 'shop');
  await source.query('CREATE DATABASE lost');
  const { databases, state } = await compare();
  await source.query('DROP DATABASE lost');
  expect(state).toBe('differs');
  expect(databases).toMatchObject([
    { name: 'lost', state: 'differs', error: expect.any(String) },
    {
      name: 'shop',
      tables: [
        { name: 'public.a', rows_source: 0, rows_target: null, state: 'differs' },
        { name: 'public.b', rows_source: null, rows_target: 1, state: 'differs' },
      ],
      sequences: [
        { name: 'public.a_id_seq', state: 'differs' },
        { name: 'public.b_id_seq', source: null, target: '1', state: 'differs' },
      ],
    },
  ]);
});

test('names with dots are kept apart', async () => {
  await onBoth(
    'CREATE SCHEMA "a"; CREATE SCHEMA "a.b"; CREATE TABLE "a"."b.c" (n int); CREATE TABLE "a.b"."c" (n int)',
  );
  await target.query('INSERT INTO "a"."b.c" VALUES (1)', 'shop');
  expect(statesOf(await compare())).toEqual({ '"a"."b.c"': 'differs', '"a.b"."c"': 'equal' });
});

test('large objects are compared by their bytes; a gap is equal to zeros', async () => {
  await source.query("SELECT lo_from_bytea(1001, 'abc'), lo_create(1002)", 'shop');
  await source.query("SELECT lo_from_bytea(1003, ''), lo_put(1003, 10000, 'end')", 'shop');
  await target.query("SELECT lo_from_bytea(1001, 'abc'), lo_create(1002)", 'shop');
  await target.query("SELECT lo_from_bytea(1003, decode(repeat('00', 10000), 'hex') || 'end')", 'shop');
  const objects = async () => (await compare()).databases[0]?.tables;
  expect(await objects()).toMatchObject([{ name: 'large objects', rows_source: 3, state: 'equal' }]);
  await target.query("SELECT lo_put(1001, 1, 'x')", 'shop');
  expect(await objects()).toMatchObject([{ state: 'differs' }]);
  await target.query("SELECT lo_put(1001, 1, 'b'), lo_put(1002, 0, '\\x00')", 'shop');
  expect(await objects()).toMatchObject([{ state: 'differs' }]);
});

test('a table that is written to, or cannot be read, is not comparable', async () => {
  await onBoth('CREATE TABLE busy (n bigint); CREATE TABLE locked (n int)');
  await source.query("CREATE TABLE fill AS SELECT n, repeat('x', 500) AS x FROM generate_series(1, 40000) n", 'shop');
  await target.query('CREATE TABLE fill (n int, x text)', 'shop');
  const ending = new AbortController();
  const writing = (async () => {
    while (!ending.signal.aborted) await source.query('INSERT INTO busy SELECT 1', 'shop');
  })();
  const report = await compare({ maxRounds: 1 }).finally(() => ending.abort());
  await writing;
  expect(statesOf(report)).toMatchObject({ 'public.busy': 'not_comparable', 'public.fill': 'differs' });
});

test('a table that row-level security hides, or the role may not read, is not comparable', async () => {
  await onBoth(`CREATE TABLE secret (n int); CREATE TABLE open (n int); ALTER TABLE secret ENABLE ROW LEVEL SECURITY;
    CREATE TABLE denied (n int)`);
  await source.query(`DROP ROLE IF EXISTS reader; CREATE ROLE reader LOGIN PASSWORD '${source.password}'`);
  await source.query('GRANT SELECT ON secret, open TO reader', 'shop');
  const reader = { engine: 'postgresql', source: postgresEndpointOf(source, { username: 'reader' }) } as const;
  expect(statesOf(await compare({ source: reader }))).toEqual({
    'public.denied': 'not_comparable',
    'public.open': 'equal',
    'public.secret': 'not_comparable',
  });
});

test('a table that cannot be read is accepted by name, but not one that the target lacks', async () => {
  await onBoth('CREATE TABLE denied (n int)');
  await source.query(
    `CREATE TABLE lost (n int); DROP ROLE IF EXISTS reader;
    CREATE ROLE reader LOGIN PASSWORD '${source.password}'`,
    'shop',
  );
  const reader = { engine: 'postgresql', source: postgresEndpointOf(source, { username: 'reader' }) } as const;
  const accepted = ['shop:public.denied', 'shop:public.lost'];
  const report = await compare({ source: reader, accepted });
  expect(report.databases[0]?.tables).toMatchObject([
    { name: 'public.denied', state: 'not_comparable', accepted: true, error: expect.any(String) },
    { name: 'public.lost', state: 'differs' },
  ]);
  await source.query('DROP TABLE lost', 'shop');
  expect(await compare({ source: reader, accepted })).toMatchObject({ state: 'equal' });
});

test('what the target has not received is not comparable while a replication slot is behind', async () => {
  await onBoth('CREATE TABLE t (id int PRIMARY KEY)');
  await source.query("SELECT pg_create_logical_replication_slot('late', 'pgoutput')", 'shop');
  await source.query('INSERT INTO t VALUES (1)', 'shop');
  const late = await compare();
  await source.query("SELECT pg_drop_replication_slot('late')", 'shop');
  expect(late.databases[0]?.tables).toMatchObject([
    { state: 'not_comparable', error: expect.stringContaining('late') },
  ]);
  expect(statesOf(await compare())).toEqual({ 'public.t': 'differs' });
});

test('each of many small tables has its own result, also beside one that cannot be read with them', async () => {
  await onBoth(`DO $$ BEGIN FOR i IN 100..149 LOOP EXECUTE format('CREATE TABLE t%s AS SELECT %s AS n', i, i); END LOOP; END $$;
    CREATE TABLE large AS SELECT n FROM generate_series(1, 5000) n; ANALYZE`);
  await target.query(
    'UPDATE t101 SET n = 0; DROP TABLE t102; INSERT INTO t103 VALUES (0); UPDATE t149 SET n = 0',
    'shop',
  );
  await target.query('ALTER TABLE t104 DROP COLUMN n; DELETE FROM large WHERE n = 1', 'shop');
  const states = statesOf(await compare());
  const unequal = Object.keys(states).filter((name) => states[name] !== 'equal');
  expect(Object.keys(states)).toHaveLength(51);
  expect(unequal.sort()).toEqual(['large', 't101', 't102', 't103', 't104', 't149'].map((name) => `public.${name}`));
});

test('before the stop, the report says what the stop will still copy', async () => {
  await onBoth(`CREATE TABLE t (id serial PRIMARY KEY); CREATE UNLOGGED TABLE u (n int);
    CREATE MATERIALIZED VIEW v AS SELECT id FROM t WITH NO DATA`);
  await source.query("SELECT nextval('t_id_seq'), lo_from_bytea(1001, 'abc')", 'shop');
  await source.query('INSERT INTO u VALUES (1); REFRESH MATERIALIZED VIEW v', 'shop');
  await source.query("SELECT pg_create_logical_replication_slot('running', 'pgoutput')", 'shop');
  const running = await compare();
  await source.query("SELECT pg_drop_replication_slot('running')", 'shop');
  expect(running.databases[0]).toMatchObject({
    left_to_stop: ['1 sequence', '1 materialized view', '1 large object'].map((one) => expect.stringContaining(one)),
    tables: [
      { name: 'public.t', state: 'equal' },
      { name: 'public.u', rows_source: 1, rows_target: 0 },
      { name: 'large objects', state: 'not_comparable' },
    ],
  });
  const stopped = await compare();
  expect(stopped.databases[0]).not.toHaveProperty('left_to_stop');
  expect(statesOf(stopped)).toEqual({ 'public.t': 'equal', 'public.u': 'not_comparable', 'large objects': 'differs' });
});

test('nothing is written on either server, and no function of a user runs', async () => {
  await onBoth(`CREATE TABLE ran (n int); CREATE TABLE t (id int PRIMARY KEY); INSERT INTO t VALUES (1);
    CREATE FUNCTION canary(int) RETURNS bool LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RAISE 'canary'; END $$;
    CREATE SCHEMA evil; CREATE FUNCTION evil.count() RETURNS int LANGUAGE sql AS 'SELECT 1 / 0'`);
  await onBoth(
    'CREATE INDEX late ON t (id) WHERE id > 1 AND canary(id); ALTER DATABASE shop SET search_path = evil, pg_catalog',
  );
  expect((await compare()).state).toBe('equal');
});

test('the same server twice, and an unknown name in ignoreDbs, are usage errors', async () => {
  await expect(compare({ target: endpoint(source) })).rejects.toMatchObject({ code: 'usage' });
  await expect(compare({ ignoreDbs: ['nothere'] })).rejects.toMatchObject({ code: 'usage' });
});

test('an unlogged table whose rows are only on the source is settled by the word of a user', async () => {
  await onBoth('CREATE UNLOGGED TABLE sessions (id int PRIMARY KEY); CREATE UNLOGGED TABLE kept (id int PRIMARY KEY)');
  await source.query('INSERT INTO sessions VALUES (1)', 'shop');
  await onBoth('INSERT INTO kept VALUES (1)');
  const report = await compare();
  expect(statesOf(report)).toEqual({ 'public.kept': 'equal', 'public.sessions': 'not_comparable' });
  expect(listAcceptable(report)).toEqual(['shop:public.sessions']);
  expect(acceptTables(report, ['shop:public.sessions']).state).toBe('equal');
});
