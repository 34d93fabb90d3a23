import { chownSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { incomparableColumnsQuery } from '../../../../src/db/preflight/postgresql/queries/replica-identities.ts';
import type { PostgresqlReport } from '../../../../src/db/preflight/postgresql/run.ts';
import { type Postgres, ready, startPostgres } from '../../../fixtures/postgres.ts';
import { type BrokenDatabase, brokenOn } from './broken-databases.ts';
import { expectText } from './expect-text.ts';
import { short } from './facts.ts';
import { found, preflightServer } from './preflight.ts';
import { queryRows } from './query-rows.ts';

/** The checks of databases. Those of the server are asked elsewhere. */
const own = [
  'replica-identity',
  'full-without-eq',
  'unlogged',
  'foreign-tables',
  'temp-tables',
  'partitions',
  'large-objects',
  'sequences',
  'matviews',
  'grants',
  'generated-columns',
  'identity-columns',
  'extensions',
  'ext-tables',
  'ext-functions',
  'system-tables',
  'always-triggers',
  'event-triggers',
  'untrusted-lang',
  'dictionaries',
  'secdef',
  'search-path',
  'tablespaces',
  'encoding',
  'collation',
  'rls',
  'dump-privs',
  'subs-existing',
  'pub-existing',
  'invalid-index',
  'not-valid',
  'time-checks',
  'setting-checks',
  'session-checks',
  'mutable-calls',
  'security-labels',
  'reading-checks',
  'callable-names',
  'ddl-activity',
  'removed-types',
];

describe.each([14, 18] as const)('on PostgreSQL %i', (version) => {
  const broken = brokenOn(version);
  let server: Postgres;
  let report: PostgresqlReport;

  beforeAll(async () => {
    server = await startPostgres({
      version,
      settings: { ...ready, max_replication_slots: 400, max_wal_senders: 400, max_connections: 50 },
      setup: ["CREATE ROLE bare LOGIN PASSWORD 'secret'"],
    });
    const disk = join(server.folder, 'disk');
    mkdirSync(disk);
    if (process.getuid?.() === 0) chownSync(disk, 65_534, 65_534);
    await server.query(`CREATE TABLESPACE "Fast Disk" LOCATION '${disk}'`);
    await server.query('CREATE DATABASE moved TABLESPACE "Fast Disk"');
    for (const { database, setup } of broken) await build(server, database, setup);
    const session = await sessionIn(server, 'temporary');
    try {
      await session.query('CREATE TEMP TABLE mine (a int)');
      report = await preflightServer(server);
    } finally {
      await session.end();
    }
  }, 120_000);
  afterAll(() => server?.stop(), 60_000);

  // The server does not record when tables change, so ddl-activity is skipped in each.
  const judged = (database: string) =>
    Object.fromEntries(
      report.findings
        .filter(({ id, status, ...of }) => of.database === database && own.includes(id) && status !== 'pass')
        .filter(({ id, status }) => id !== 'ddl-activity' || status !== 'skip')
        .map((finding) => [finding.id, short(finding)]),
    );

  test.each(broken)('$database: what is broken is found, and nothing else', ({ database, found }: BrokenDatabase) => {
    expect(judged(database)).toEqual(found);
  });

  test('a database in a tablespace of its own is named', () => {
    expect(judged('moved')).toEqual({ tablespaces: 'warn' });
  });

  test('names are quoted as they have to be in SQL', () => {
    expect(found(report, 'unlogged', 'unlogged').objects).toEqual(
      expect.arrayContaining(['public.a', 'public."B ""c"', 'public.a0']),
    );
    expect(found(report, 'replica-identity', 'leaves').objects).toEqual([
      expect.stringMatching(/^public\."bare leaf" \(.+\)$/),
    ]);
    expect(found(report, 'full-without-eq', 'full_json').objects).toEqual(['public.t ("the doc" json)']);
    expect(found(report, 'secdef', 'definer').objects).toEqual(['public."Root"(text,integer[]) (owner postgres)']);
    expect(found(report, 'search-path', 'search_path').objects).toEqual([
      'public.is_kind(text) (relation The Kinds; things_kind_check on public.things)',
    ]);
    expect(found(report, 'search-path', 'search_path').fix?.sql).toEqual([
      'ALTER FUNCTION "public"."is_kind"("text") SET search_path = "Other One", "public", pg_temp',
    ]);
    expect(found(report, 'not-valid', 'constraints').objects).toEqual(['c on public.d', '"too big" on public.t']);
    expect(found(report, 'tablespaces', 'elsewhere').objects).toEqual(
      expect.arrayContaining(['public.t (Fast Disk)', 'public.t_pkey (Fast Disk)']),
    );
    expect(found(report, 'ext-tables', 'filled').objects).toEqual(['public.spatial (hstore)']);
  });

  test('what is lost without failing is told', () => {
    expect(report.data_loss).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^unlogged: .*\b3 unlogged tables$/),
        expect.stringMatching(/^large_objects: 2 large objects\b/),
        expect.stringMatching(/^system_tables: .*\b2 tables\b/),
        expect.stringMatching(/^sequences: .*\b2 sequences$/),
      ]),
    );
    const losses = report.data_loss.filter((loss) => /^(unlogged|large_objects|system_tables|sequences): /.test(loss));
    expectText(losses.toSorted().join('\n'));
  });

  test('the identity chosen is the key, else the index with the fewest columns, else FULL', () => {
    const cures = (database: string) => found(report, 'replica-identity', database).fix?.sql;
    expect(cures('nothing')).toEqual(['ALTER TABLE "public"."t" REPLICA IDENTITY DEFAULT']);
    expect(cures('usable_index')).toEqual([
      expect.stringContaining('; ALTER TABLE "public"."t" REPLICA IDENTITY USING INDEX "The One"; END'),
    ]);
    expect(cures('keyless')).toEqual(['ALTER TABLE "public"."t" REPLICA IDENTITY FULL']);
    expect(cures('keyless_json')).toEqual([]);
    expect(cures(version < 18 ? 'generated_key' : 'generated_key_quiet')).toEqual([]);
    expect(found(report, 'replica-identity', 'keyless_json').fix?.text).toContain('public.t');
  });

  test('two values of a type can be compared exactly where the server can tell them apart', async () => {
    await build(server, 'types', [
      ...['hstore', 'citext', 'ltree', 'cube', 'isn', 'intarray'].map((name) => `CREATE EXTENSION ${name}`),
      'CREATE DOMAIN json_word AS json',
      'CREATE DOMAIN number AS int',
      'CREATE TYPE pair AS (a number, b json_word[])',
      'CREATE TYPE twice AS (a pair, b int)',
      'CREATE TYPE fine AS (a int, b text[])',
      'CREATE DOMAIN fine_word AS fine',
      'CREATE TYPE words AS RANGE (subtype = text)',
    ]);
    const types = await server.query(
      "SELECT oid, format_type(oid, NULL) AS name FROM pg_type WHERE typtype <> 'p' AND (typtype <> 'c' OR oid >= 16384)",
      'types',
    );
    const session = await sessionIn(server, 'types');
    const unequal: string[] = [];
    let made = 0;
    try {
      for (const { oid, name } of types) {
        // Types that only the catalogue uses are no type of a column.
        const table = `CREATE TABLE t${oid} (x ${name}); ALTER TABLE t${oid} REPLICA IDENTITY FULL`;
        if (!(await succeeds(session, table))) continue;
        made += 1;
        if (!(await succeeds(session, `SELECT DISTINCT x FROM t${oid}`))) unequal.push(`public.t${oid}`);
      }
    } finally {
      await session.end();
    }
    const context = { inRecovery: false, superuser: true };
    const sql = incomparableColumnsQuery.sql(version * 10_000, context) ?? '';
    const found = incomparableColumnsQuery.decode(await queryRows(server, 'types', sql)).map(({ table }) => table);
    expect(made).toBeGreaterThan(200);
    expect(unequal.length).toBeGreaterThan(30);
    expect(found.toSorted()).toEqual(unequal.toSorted());
  }, 60_000);

  test('every fix cures, and undo brings back what was observed', async () => {
    const cured = [
      'replica-identity',
      'full-without-eq',
      'unlogged',
      'always-triggers',
      'system-tables',
      'search-path',
    ];
    const fixes = report.findings.filter(({ id, fix }) => cured.includes(id) && (fix?.sql?.length ?? 0) > 0);
    expect(new Set(fixes.map(({ id }) => id))).toEqual(
      new Set(['replica-identity', 'unlogged', 'always-triggers', 'system-tables', 'search-path']),
    );
    const names = [...new Set(fixes.map(({ database }) => database ?? ''))];
    const before = await states(server, names);
    // Twice: a script that broke off is run again.
    for (const _ of [1, 2]) {
      for (const { fix, database } of fixes) for (const sql of fix?.sql ?? []) await server.query(sql, database);
    }
    const after = await preflightServer(server);
    const left = after.findings.filter(
      ({ id, database, status }) => cured.includes(id) && names.includes(database ?? '') && status !== 'pass',
    );
    expect(left.map(({ id, database }) => `${database} ${id}`)).toEqual(
      version >= 18 ? ['full_generated replica-identity'] : [],
    );
    for (const { fix, database } of fixes.toReversed()) {
      for (const sql of fix?.undo ?? []) await server.query(sql, database);
    }
    expect(await states(server, names)).toEqual(before);
  }, 60_000);

  test('a role without rights is told what it may not read, and the grants are enough', async () => {
    await build(server, 'closed', [
      'CREATE SCHEMA hidden',
      'CREATE SCHEMA "Open"',
      'GRANT USAGE ON SCHEMA "Open" TO PUBLIC',
      'CREATE TABLE hidden.t (a int PRIMARY KEY)',
      'GRANT SELECT ON hidden.t TO bare',
      'CREATE TABLE "Open"."a b" (a serial PRIMARY KEY)',
      'CREATE TABLE "Open".owned (a serial PRIMARY KEY)',
      'ALTER TABLE "Open".owned OWNER TO bare',
      'CREATE TABLE "Open".shown (a int PRIMARY KEY)',
      'GRANT SELECT ON "Open".shown TO PUBLIC',
      'CREATE MATERIALIZED VIEW "Open".m AS SELECT 1 AS a',
      'CREATE EXTENSION pg_stat_statements',
      'CREATE TABLE "Open".member (a int PRIMARY KEY)',
      'ALTER EXTENSION pg_stat_statements ADD TABLE "Open".member',
      'SELECT lo_create(4711)',
      'SELECT lo_create(4712)',
      'GRANT SELECT ON LARGE OBJECT 4712 TO bare',
    ]);
    const only = (name: string) => ({
      ignoreDbs: report.databases.map((one) => one.name).filter((one) => one !== name),
    });
    const bare = await preflightServer({ ...server, dbname: 'closed', username: 'bare', options: only('closed') });
    const denied = found(bare, 'dump-privs', 'closed');
    expect(short(denied)).toBe('fail dump');
    expect(denied.objects?.toSorted()).toEqual([
      '"Open"."a b"',
      expect.stringMatching(/^hidden\.t \(no USAGE\b/),
      'large object 4711',
      'sequence "Open"."a b_a_seq"',
    ]);
    expect(denied.observed).toMatch(/\b2 tables, 1 sequence, 1 large object$/);
    for (const sql of denied.fix?.sql ?? []) await server.query(sql, 'closed');
    const granted = await preflightServer({ ...server, dbname: 'closed', username: 'bare', options: only('closed') });
    expect(found(granted, 'dump-privs', 'closed').status).toBe('pass');
    for (const sql of denied.fix?.undo ?? []) await server.query(sql, 'closed');
    const again = await preflightServer({ ...server, dbname: 'closed', username: 'bare', options: only('closed') });
    expect(found(again, 'dump-privs', 'closed').objects).toEqual(denied.objects);
  }, 60_000);

  test('row-level security is found where it holds for the role', async () => {
    await build(server, 'secured', [
      'CREATE TABLE held (a int PRIMARY KEY)',
      'ALTER TABLE held ENABLE ROW LEVEL SECURITY',
      'CREATE TABLE mine (a int PRIMARY KEY)',
      'ALTER TABLE mine ENABLE ROW LEVEL SECURITY',
      'ALTER TABLE mine OWNER TO bare',
      'CREATE TABLE forced (a int PRIMARY KEY)',
      'ALTER TABLE forced ENABLE ROW LEVEL SECURITY',
      'ALTER TABLE forced FORCE ROW LEVEL SECURITY',
      'ALTER TABLE forced OWNER TO bare',
    ]);
    // An older target does not write as the owner of a table.
    const healthy = { ...server, options: { targetVersion: '15' } };
    const where = { ...healthy, dbname: 'secured', username: 'bare' };
    const bare = found(await preflightServer(where), 'rls', 'secured');
    expect(short(bare)).toBe('fail continuous+dump');
    expect(bare.objects?.toSorted()).toEqual(['public.forced (FORCE)', 'public.held']);
    expect(found(await preflightServer(healthy), 'rls', 'secured').status).toBe('pass');
    for (const sql of bare.fix?.sql ?? []) await server.query(sql);
    expect(found(await preflightServer(where), 'rls', 'secured').status).toBe('pass');
    for (const sql of bare.fix?.undo ?? []) await server.query(sql);
    expect(found(await preflightServer(where), 'rls', 'secured').objects).toEqual(bare.objects);
  }, 60_000);

  test('a bare role has its answer to every question about a database', async () => {
    const bare = await preflightServer({ ...server, username: 'bare' });
    const unknown = bare.findings.filter(({ id, status }) => own.includes(id) && status === 'unknown');
    // What reads its own table, names objects in partitions, and what holds inside other types, is not known to a superuser either.
    expect(new Set(unknown.map(({ id }) => id))).toEqual(
      new Set([
        'extensions',
        'full-without-eq',
        'partitions',
        'reading-checks',
        'not-valid',
        'setting-checks',
        'tablespaces',
      ]),
    );
  });
});

async function build(server: Postgres, database: string, setup: readonly string[]): Promise<void> {
  await server.query(`CREATE DATABASE "${database}"`);
  const session = await sessionIn(server, database);
  try {
    for (const statement of setup) await session.query(statement);
  } finally {
    await session.end();
  }
  if (setup.some((statement) => statement.startsWith('UPDATE t'))) await counted(server, database);
}

async function sessionIn(server: Postgres, database: string): Promise<pg.Client> {
  const session = new pg.Client({ host: server.folder, port: server.port, user: 'postgres', database });
  await session.connect();
  return session;
}

function succeeds(session: pg.Client, statement: string): Promise<boolean> {
  return session.query(statement).then(
    () => true,
    () => false,
  );
}

/** Before 15 a process of its own adds the writes up. */
async function counted(server: Postgres, database: string): Promise<void> {
  for (let tries = 0; tries < 50; tries += 1) {
    const [row] = await server.query('SELECT sum(n_tup_upd) > 0 AS seen FROM pg_stat_user_tables', database);
    if (row?.seen === true) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error('the writes were never counted');
}

/** What fixes change. */
async function states(server: Postgres, names: readonly string[]): Promise<Readonly<Record<string, unknown>>> {
  const all: Record<string, unknown> = {};
  for (const name of names) {
    all[name] = await server.query(
      `SELECT c.relname, c.relnamespace::regnamespace::text AS schema, c.relpersistence, c.relreplident = 'n' OR (c.relreplident = 'i' AND NOT EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indisreplident AND i.indisvalid)) AS nothing, c.relreplident IN ('d', 'f') AS other, (SELECT array_agg(tgname::text || tgenabled::text ORDER BY tgname) FROM pg_trigger WHERE tgrelid = c.oid AND NOT tgisinternal) AS triggers FROM pg_class c WHERE c.relkind IN ('r', 'p') AND c.oid >= 16384 ORDER BY 1`,
      name,
    );
    all[`functions of ${name}`] = await server.query(
      'SELECT proname, proconfig FROM pg_proc WHERE oid >= 16384 ORDER BY 1',
      name,
    );
  }
  return all;
}
