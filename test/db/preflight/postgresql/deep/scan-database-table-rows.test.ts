import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Secret } from '../../../../../src/base/secret.ts';
import type { DatabaseScan } from '../../../../../src/db/preflight/postgresql/deep/results.ts';
import { scanTables, type TablesScanOptions } from '../../../../../src/db/preflight/postgresql/deep/scan.ts';
import type { Clock } from '../../../../../src/platform/host.ts';
import { systemClock } from '../../../../../src/platform/waiting.ts';
import type { PostgresqlEndpoint } from '../../../../../src/postgresql/endpoint.ts';
import { overwritePages } from '../../../../fixtures/damage-page.ts';
import { type Postgres, startPostgres } from '../../../../fixtures/postgres.ts';
import { startStandby } from '../../../../fixtures/standby.ts';
import { postgresEndpointOf } from '../../../engine/servers.ts';

const fast = { bytesPerSecond: 1e9, timeout: undefined };

interface ScanOptions extends Partial<TablesScanOptions> {
  readonly source?: Partial<PostgresqlEndpoint>;
  readonly encoding?: string;
}

async function scan(server: Postgres, database: string, more: ScanOptions = {}): Promise<DatabaseScan> {
  const { source, encoding = 'UTF8', ...options } = more;
  const [{ version } = { version: 0 }] = await server.query<{ version: number }>(
    "SELECT current_setting('server_version_num')::int AS version",
  );
  const found = await scanTables([{ name: database, encoding }], {
    deep: fast,
    query: {
      source: { ...postgresEndpointOf(server), ...source },
      version,
      context: { inRecovery: false, superuser: true },
      serverResults: new Map(),
      clock: systemClock,
      onSend: () => {},
    },
    cancelled: undefined,
    onRead: () => {},
    ...options,
  });
  return found.get(database)!;
}

/** A session that stays open. */
async function openSession(server: Postgres, database: string): Promise<pg.Client> {
  const client = new pg.Client({ host: server.folder, port: server.port, user: 'postgres', database });
  client.on('error', () => {});
  await client.connect();
  return client;
}

describe.each([14, 17] as const)('PostgreSQL %i', (version) => {
  let server: Postgres;
  let database = '';
  let number = 0;
  beforeAll(async () => {
    server = await startPostgres({ version, setup: ["CREATE ROLE someone LOGIN PASSWORD 'secret'"] });
  });
  beforeEach(async () => {
    number += 1;
    database = `d${number}`;
    await server.query(`CREATE DATABASE ${database}`);
  });
  afterEach(() => server.query(`DROP DATABASE ${database} WITH (FORCE)`));
  afterAll(() => server?.stop());
  const run = async (...statements: readonly string[]) => {
    for (const statement of statements) await server.query(statement, database);
  };
  /** Adds rows that the unique index does not contain. */
  const pastIndex = (index: string, statement: string) =>
    run(
      `UPDATE pg_index SET indisready = false WHERE indexrelid = '${index}'::regclass`,
      statement,
      `UPDATE pg_index SET indisready = true WHERE indexrelid = '${index}'::regclass`,
    );

  test('every table with rows of its own is read', async () => {
    await run(
      'CREATE SCHEMA "S.x"',
      'CREATE TABLE "S.x"."T""t" ("a b" int PRIMARY KEY, t text, gen int GENERATED ALWAYS AS (1) STORED)',
      `INSERT INTO "S.x"."T""t" SELECT g, repeat('é', 40000) FROM generate_series(1, 10) g`,
      'CREATE TABLE parts (a int) PARTITION BY LIST (a)',
      'CREATE TABLE part PARTITION OF parts DEFAULT',
      'INSERT INTO parts VALUES (1), (2)',
      'CREATE UNLOGGED TABLE unlogged (a int)',
      'INSERT INTO unlogged VALUES (1)',
      'CREATE TABLE columnless ()',
      'INSERT INTO columnless DEFAULT VALUES',
      'CREATE VIEW seen AS SELECT 1 AS one',
    );
    const found = await scan(server, database);
    expect(found).toMatchObject({
      ...{ encoding: 'UTF8', failure: undefined, tables: 4, rows: 14 },
      ...{ unread: [], invalid: [], duplicates: [], unchecked: [], comparedKeys: 1 },
      longestRow: { table: '"S.x"."T""t"', bytes: 80_004 },
    });
    expect(found.bytes).toBeGreaterThan(800_000);
  });

  test('values that the input function of their type refuses are found in every column, and only there', async () => {
    await run(
      'CREATE DOMAIN d AS text NOT NULL',
      'CREATE SCHEMA "S.x"',
      'CREATE TABLE "S.x"."T""t" (v d, "a b" d[], c circle, other circle, id int PRIMARY KEY)',
      `INSERT INTO "S.x"."T""t" SELECT (SELECT v FROM "S.x"."T""t" WHERE false), '{a}', circle(point(0, 0), -1), circle(point(0, 0), 1), 7`,
    );
    const { tested } = await scan(server, database);
    expect(tested.map(({ column, isRefused }) => [column.table, column.column, isRefused]).toSorted()).toEqual([
      ['"S.x"."T""t"', '"a b"', false],
      ['"S.x"."T""t"', 'c', true],
      ['"S.x"."T""t"', 'other', false],
      ['"S.x"."T""t"', 'v', true],
    ]);
  });

  test('equal keys are found in every kind of comparable key, and only there', async () => {
    await run(
      'CREATE TABLE t (a int, b text, n numeric(5,1), f float8)',
      'CREATE UNIQUE INDEX plain ON t (b, a) INCLUDE (f)',
      'CREATE UNIQUE INDEX scaled ON t (n)',
      'CREATE UNIQUE INDEX floats ON t (f)',
      'CREATE UNIQUE INDEX computed ON t ((f + 1))',
      'CREATE UNIQUE INDEX partial ON t (a) WHERE a > 0',
      'CREATE UNIQUE INDEX nullable ON t (a, n)',
      "INSERT INTO t VALUES (1, E'x\\ty', 1.0, 0)",
    );
    await pastIndex('plain', "INSERT INTO t VALUES (-1, E'x\\ty', 2, 1), (-1, E'x\\ty', NULL, 2), (-1, 'x', NULL, 3)");
    const found = await scan(server, database);
    expect(found.duplicates).toEqual([
      { index: 'public.plain', table: 'public.t', columns: ['b', 'a'], keys: 1, rows: 2 },
    ]);
    expect(found.comparedKeys).toBe(3);
    expect(found.unchecked.map(({ index, reason }) => [index, reason])).toEqual([
      ['public.floats', 'type'],
      ['public.computed', 'expression'],
      ['public.partial', 'partial_index'],
    ]);
  });

  test('a key that is too long for one message is compared', async () => {
    await run('CREATE TABLE long (t text PRIMARY KEY)', "INSERT INTO long VALUES (repeat('x', 100000))");
    await pastIndex('long_pkey', "INSERT INTO long VALUES (repeat('x', 100000)), (repeat('x', 100001))");
    expect((await scan(server, database)).duplicates).toMatchObject([{ keys: 1, rows: 2 }]);
  });

  test('the columns of invalid bytes are named, those of keys too', async () => {
    await run(
      'CREATE TABLE t (x text, k text UNIQUE)',
      'CREATE CAST (bytea AS text) WITHOUT FUNCTION',
      "INSERT INTO t VALUES ('\\xff'::bytea::text, 'a'), ('\\xc3a9'::bytea::text, '\\xe9'::bytea::text)",
    );
    expect((await scan(server, database)).invalid).toEqual([
      { table: 'public.t', column: 'x', rows: 1 },
      { table: 'public.t', column: 'k', rows: 1 },
    ]);
    // The check of SQL_ASCII uses them.
    expect((await scan(server, database, { encoding: 'SQL_ASCII' })).invalid).toHaveLength(2);
    expect((await scan(server, database, { encoding: 'LATIN1' })).invalid).toEqual([]);
  });

  test('a damaged page ends its table, and no other', async () => {
    await run(
      'CREATE TABLE a (a int UNIQUE, t text)',
      "INSERT INTO a SELECT g, repeat('x', 500) FROM generate_series(1, 200) g",
      'CREATE UNIQUE INDEX computed ON a ((a + 1))',
      'CREATE TABLE b AS SELECT 1 AS one',
    );
    await overwritePages(server, 'a', database, { page: 5 });
    const found = await scan(server, database);
    expect(found).toMatchObject({
      tables: 2,
      unread: [{ table: 'public.a', reason: 'damaged', message: expect.stringContaining('block 5') }],
      unchecked: [
        { index: 'public.computed', reason: 'expression' },
        { index: 'public.a_a_key', reason: 'table_not_read' },
      ],
    });
    expect(found.rows).toBeGreaterThan(10);
    expect(found.rows).toBeLessThan(201);
  });

  test('what the role may not read has a reason', async () => {
    await run(
      'CREATE TABLE open (a int)',
      'CREATE TABLE closed (a int)',
      'CREATE TABLE secured (a int)',
      'ALTER TABLE secured ENABLE ROW LEVEL SECURITY',
      'GRANT SELECT ON open, secured TO someone',
      'CREATE SCHEMA hidden',
      'CREATE TABLE hidden.t (a int)',
      'GRANT SELECT ON hidden.t TO someone',
    );
    const source = { username: 'someone', password: new Secret('secret') };
    const { tables, unread } = await scan(server, database, { source });
    expect(tables).toBe(4);
    expect(unread.map(({ table, reason }) => [table, reason])).toEqual([
      ['hidden.t', 'no_privilege'],
      ['public.closed', 'no_privilege'],
      ['public.secured', 'row_security'],
    ]);
  });

  test('a locked table has a reason, and the next one is read', async () => {
    await run('CREATE TABLE a (a int)', 'CREATE TABLE b (a int)', 'INSERT INTO b VALUES (1)');
    const session = await openSession(server, database);
    await session.query('BEGIN; LOCK TABLE a IN ACCESS EXCLUSIVE MODE');
    const found = await scan(server, database);
    await session.end();
    expect(found).toMatchObject({ rows: 1, unread: [{ table: 'public.a', reason: 'locked' }] });
  });

  test('tables that are dropped or changed after they were listed have a reason', async () => {
    await run(
      "CREATE TABLE a AS SELECT repeat('x', 100) AS t FROM generate_series(1, 5000)",
      'CREATE TABLE b (a int)',
      'CREATE TABLE c (a int)',
      'CREATE TABLE d (a int)',
    );
    let change: Promise<void> | undefined;
    const clock: Clock = {
      now: () => performance.now(),
      // Between two rows of the first table.
      async sleep(ms, signal) {
        change ??= run('DROP TABLE b', 'ALTER TABLE c RENAME a TO z', 'DROP TABLE d', 'CREATE VIEW d AS SELECT 1 AS a');
        await change;
        await systemClock.sleep(ms, signal);
      },
    };
    const deep = { bytesPerSecond: 1e6, timeout: undefined };
    const { unread } = await scan(server, database, { deep, monotonic: clock });
    expect(unread.map(({ table, reason }) => [table, reason])).toEqual([
      ['public.b', 'dropped_or_changed'],
      ['public.c', 'dropped_or_changed'],
      ['public.d', 'dropped_or_changed'],
    ]);
  });

  test('a connection that ends has a reason, and the next table is read on another one', async () => {
    await run(
      "CREATE TABLE a AS SELECT repeat('x', 1000) AS t FROM generate_series(1, 20000)",
      'CREATE TABLE b AS SELECT 1 AS one',
    );
    let end: Promise<unknown> | undefined;
    const clock: Clock = {
      now: () => performance.now(),
      async sleep(ms, signal) {
        end ??= server.query(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${database}' AND query LIKE '%COPY%'`,
        );
        await end;
        await systemClock.sleep(Math.min(ms, 50), signal);
      },
    };
    const deep = { bytesPerSecond: 1e7, timeout: undefined };
    const found = await scan(server, database, { deep, monotonic: clock });
    expect(found).toMatchObject({ tables: 2, unread: [{ table: 'public.a', reason: 'connection_ended' }] });
    expect(found.rows).toBeGreaterThan(0);
  });

  test('the time limit and the rate are those of all tables together', async () => {
    await run(...Array.from({ length: 30 }, (_, at) => `CREATE TABLE t${at} AS SELECT repeat('x', 999) AS t`));
    const warnings: Error[] = [];
    const listen = (warning: Error) => void warnings.push(warning);
    process.on('warning', listen);
    let time = 0;
    // Each table is so small that it alone would not have to wait.
    const clock: Clock = {
      now: () => time,
      async sleep(ms) {
        time += ms;
      },
    };
    const deep = { bytesPerSecond: 100_000, timeout: undefined };
    const found = await scan(server, database, { deep, monotonic: clock });
    expect(found).toMatchObject({ tables: 30, rows: 30, bytes: 30_000, unread: [] });
    expect(time).toBeGreaterThan(250);
    expect(time).toBeLessThanOrEqual(300);
    const slow = { bytesPerSecond: 20_000, timeout: undefined };
    await scan(server, database, { deep: slow });
    process.off('warning', listen);
    expect(warnings).toEqual([]);
    const { unread } = await scan(server, database, { deep: { bytesPerSecond: 10_000, timeout: 300 } });
    expect(unread.length).toBeGreaterThan(20);
    expect(new Set(unread.map(({ reason }) => reason))).toEqual(new Set(['time_limit']));
  });

  test('a cancelled reading ends', async () => {
    await run("CREATE TABLE a AS SELECT repeat('x', 1000) AS t FROM generate_series(1, 2000)");
    const controller = new AbortController();
    const deep = { bytesPerSecond: 1000, timeout: undefined };
    const scanned = scan(server, database, {
      deep,
      cancelled: controller.signal,
      onRead: ({ bytes }) => bytes > 0 && controller.abort(),
    });
    expect(await scanned).toMatchObject({ unread: [{ reason: 'time_limit' }] });
  });

  test('the progress counts the bytes of all tables', async () => {
    await run('CREATE TABLE a AS SELECT 1 AS one', 'CREATE TABLE b AS SELECT 2 AS one');
    const seen: string[] = [];
    await scan(server, database, {
      onRead: ({ database: name, table, position, tables, bytes }) =>
        void seen.push(`${name} ${table} ${position}/${tables} ${bytes}`),
    });
    expect(seen[0]).toBe(`${database} public.a 1/2 0`);
    expect(seen.at(-1)).toMatch(new RegExp(`^${database} public.b 2/2 [24]$`));
  });
});

test('a query that a standby cancels has a reason', async () => {
  const settings = { wal_level: 'replica', max_standby_streaming_delay: 0, wal_receiver_status_interval: '1s' };
  const primary = await startPostgres({ version: 17, settings });
  const standby = await startStandby(primary, { version: 17, settings });
  await primary.query('CREATE TABLE t (a int, x text)');
  await primary.query("INSERT INTO t SELECT g, repeat('x', 1000) FROM generate_series(1, 30000) g");
  const hasRows = () =>
    standby.query('SELECT count(*)::int AS n FROM t').then(
      ([row]) => row?.n === 30_000,
      () => false,
    );
  while (!(await hasRows())) await systemClock.sleep(100);
  let change: Promise<unknown> | undefined;
  const clock: Clock = {
    now: () => performance.now(),
    async sleep(ms, signal) {
      change ??= primary.query('DELETE FROM t WHERE a > 0').then(() => primary.query('VACUUM t'));
      await change;
      await systemClock.sleep(ms, signal);
    },
  };
  const deep = { bytesPerSecond: 4e6, timeout: undefined };
  const found = await scan(standby, 'postgres', { deep, monotonic: clock });
  expect(found.unread).toMatchObject([{ table: 'public.t', reason: 'recovery_conflict' }]);
}, 60_000);
