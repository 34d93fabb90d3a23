import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { Secret } from '../../../../src/base/secret.ts';
import { cleanUpFromJournal } from '../../../../src/db/engine/engine.ts';
import { memoryJournal } from '../../../../src/db/engine/journal.ts';
import type { Leftover } from '../../../../src/db/engine/state.ts';
import { expectGolden } from '../../../fixtures/golden.ts';
import { useServerPair } from '../server-pair.ts';
import {
  beginMigration,
  copySimpleSchema,
  objectsOn,
  postgresEndpointOf,
  shortEngineLimits,
  subscriptionsOn,
  testEngineDependencies,
  waitForState,
  waitUntil,
} from '../servers.ts';

const servers = useServerPair();
const table = 'CREATE TABLE t (id int PRIMARY KEY, name text); INSERT INTO t VALUES (1, $$one$$)';

test('databases and tables with unusual names are migrated', async () => {
  const { source, target, fresh, job } = servers();
  const name = `O'dd "data\\base" é`;
  await fresh(
    name,
    `CREATE SCHEMA "S c'h"; CREATE TABLE "S c'h"."T ""a\\b" (id int PRIMARY KEY, "Co l" text); INSERT INTO "S c'h"."T ""a\\b" VALUES (1, $$x$$)`,
  );
  const migration = beginMigration(await job([name]));
  const state = await waitForState(migration, ({ status }) => status === 'syncing');
  expect(state.databases).toMatchObject([{ name, tables: [{ name: `S c'h.T "a\\b`, stage: 'r' }] }]);
  expect(await target.query(`SELECT "Co l" FROM "S c'h"."T ""a\\b"`, name)).toEqual([{ 'Co l': 'x' }]);
  expect(await migration.stop()).toEqual([]);
  expect(await objectsOn(source)).toEqual([]);
});

test('every database moves but templates and those left out, and roles come without a way in', async () => {
  const { source, target, fresh } = servers();
  for (const name of ['one', 'two', 'out', 'mould']) await fresh(name, table);
  await source.query(
    'CREATE ROLE "App Role" LOGIN CREATEDB PASSWORD \'secretword\'; CREATE ROLE boss SUPERUSER; GRANT boss TO "App Role"',
  );
  await source.query('ALTER DATABASE mould IS_TEMPLATE true');
  try {
    const all = await source.query('SELECT datname FROM pg_database');
    const ignoreDbs = all
      .map(({ datname }) => String(datname))
      .filter((name) => !['one', 'two', 'mould'].includes(name));
    const migration = beginMigration({ ...(await servers().job([])), ignoreDbs });
    const state = await waitForState(migration, ({ status }) => status === 'syncing');
    expect(state.databases.map(({ name }) => name)).toEqual(['one', 'two']);
    expect(
      await target.query(
        "SELECT rolname, rolsuper, rolcanlogin, rolcreatedb FROM pg_roles WHERE rolname IN ('App Role', 'boss') ORDER BY 1",
      ),
    ).toEqual([
      { rolname: 'App Role', rolsuper: false, rolcanlogin: true, rolcreatedb: true },
      { rolname: 'boss', rolsuper: false, rolcanlogin: false, rolcreatedb: false },
    ]);
    expect(await target.query("SELECT pg_has_role('App Role', 'boss', 'member') AS held")).toEqual([{ held: true }]);
    expect(await target.query("SELECT datname FROM pg_database WHERE datname IN ('out', 'mould')")).toEqual([]);
    await migration.stop();
  } finally {
    await source.query('ALTER DATABASE mould IS_TEMPLATE false');
  }
});

test('a failed database reports its reason and does not stop the others', async () => {
  const { source, target, fresh, job } = servers();
  for (const name of ['good', 'taken']) await fresh(name, table);
  await target.query('CREATE DATABASE taken');
  await target.query('CREATE TABLE mine (id int)', 'taken');
  const migration = beginMigration(await job(['good', 'taken']));
  const state = await waitForState(migration, ({ databases }) => databases[0]?.phase === 'streaming');
  expect(state.databases).toMatchObject([
    { name: 'good', phase: 'streaming' },
    { name: 'taken', phase: 'error', error: expect.stringContaining('public.mine') },
  ]);
  expect(state.reason).toContain('taken:');
  await migration.stop();
  expect(await objectsOn(source)).toEqual([]);
});

test('a migration fails when all its databases have failed', async () => {
  const { fresh, job } = servers();
  await fresh('refused', table);
  const schemaCopy = async () => ({ kind: 'refused' as const, objects: ['operator public.+', 'type public.x'] });
  const migration = beginMigration(await job(['refused']), testEngineDependencies({ schemaCopy }));
  const { status, reason } = await migration.ended;
  expect(status).toBe('error');
  expect(reason).toContain('operator public.+, type public.x');
  expectGolden('db-migrate', reason ?? '');
});

test('sequences, materialized views and large objects are copied at the end', async () => {
  const { source, target, fresh, job } = servers();
  await fresh(
    'rest',
    table,
    'CREATE SEQUENCE "Sq"; CREATE SEQUENCE untouched; CREATE SEQUENCE told; SELECT setval($$told$$, 9, false)',
    'CREATE MATERIALIZED VIEW m AS SELECT count(*) AS n FROM t; CREATE MATERIALIZED VIEW m2 AS SELECT n FROM m',
    "SELECT lo_from_bytea(4711, decode(repeat('ab', 300000), 'hex'))",
  );
  const migration = beginMigration(await job(['rest']));
  await waitForState(migration, ({ status }) => status === 'syncing');
  await source.query("SELECT setval('\"Sq\"', 41); INSERT INTO t VALUES (2, 'two')", 'rest');
  await waitUntil(async () => (await target.query('SELECT id FROM t WHERE id = 2', 'rest')).length === 1, 'the row');
  expect(await migration.stop()).toEqual([]);
  const state = await migration.ended;
  expect(state.databases[0]).toMatchObject({ phase: 'stopped', warnings: [expect.stringContaining('public.told')] });
  expect(
    await target.query(`SELECT nextval('"Sq"') AS a, nextval('untouched') AS b, nextval('told') AS c`, 'rest'),
    // Before PostgreSQL 18 no function returns the value of a sequence that was set and not used yet.
  ).toEqual([{ a: '42', b: '1', c: '1' }]);
  expect(await target.query('SELECT n FROM m2', 'rest')).toEqual([{ n: '2' }]);
  expect(
    await target.query(
      "SELECT length(lo_get(4711)) AS n, md5(lo_get(4711)) = md5(decode(repeat('ab', 300000), 'hex')) AS same",
      'rest',
    ),
  ).toEqual([{ n: 300_000, same: true }]);
});

test('it goes on after an outage of the source and of the target', async () => {
  const { source, target, fresh, job } = servers();
  await fresh('outage', table);
  const migration = beginMigration(await job(['outage']));
  await waitForState(migration, ({ status }) => status === 'syncing');
  await source.restart();
  await source.query("INSERT INTO t VALUES (2, 'after the source')", 'outage');
  await waitUntil(async () => (await target.query('SELECT id FROM t WHERE id = 2', 'outage')).length === 1, 'the row');
  await target.restart();
  await source.query("INSERT INTO t VALUES (3, 'after the target')", 'outage');
  await waitUntil(async () => (await target.query('SELECT id FROM t WHERE id = 3', 'outage')).length === 1, 'the row');
  const state = await waitForState(migration, ({ status }) => status === 'syncing');
  expect(state).toMatchObject({ databases: [{ phase: 'streaming', reason: undefined, error: undefined }] });
  expect(await migration.stop()).toEqual([]);
  expect(await objectsOn(source)).toEqual([]);
});

test('what cannot be removed is named with the statement that removes it, and stays in the journal', async () => {
  const { source, target, fresh, job } = servers();
  await fresh('stuck', table);
  const ports = testEngineDependencies({ limits: { ...shortEngineLimits, removalTimeout: 300 } });
  const migration = beginMigration(await job(['stuck']), ports);
  await waitForState(migration, ({ status }) => status === 'syncing');
  await source.query("ALTER USER postgres PASSWORD 'other'");
  try {
    const left = await migration.stop();
    const database = { side: 'source', database: 'stuck', reason: expect.stringContaining('authentication failed') };
    const name = ports.journal.pending()[0]?.name;
    expect(left).toEqual([
      {
        ...database,
        object: `replication slot ${name}`,
        statement: `SELECT pg_catalog.pg_drop_replication_slot('${name}')`,
      },
      { ...database, object: `publication ${name}`, statement: `DROP PUBLICATION "${name}"` },
    ]);
    for (const { statement } of left) await source.query(statement, 'stuck');
    expect(await objectsOn(source)).toEqual([]);
    expect(await subscriptionsOn(target)).toEqual([]);
  } finally {
    await source.query(`ALTER USER postgres PASSWORD '${source.password}'`);
  }
});

test('slots of table copies are named when the source cannot be reached, and the next process removes them', async () => {
  const { source, target, fresh, job } = servers();
  await fresh('copying', table);
  // The copy fails and is tried again; each attempt leaves its slot.
  const schemaCopy: typeof copySimpleSchema = async (from, to, signal) => {
    const copied = await copySimpleSchema(from, to, signal);
    await target.query("INSERT INTO t VALUES (1, 'in the way')", 'copying');
    return copied;
  };
  const journal = memoryJournal();
  const limits = { ...shortEngineLimits, removalTimeout: 300 };
  const migration = beginMigration(await job(['copying']), testEngineDependencies({ limits, journal, schemaCopy }));
  const syncSlots = async () => (await objectsOn(source)).filter((name) => /^slot pg_\d+_sync_/.test(name));
  await waitUntil(async () => (await syncSlots()).length > 0, 'the slot of a table copy');
  await source.query("ALTER USER postgres PASSWORD 'other'");
  let left: readonly Leftover[] = [];
  try {
    left = await migration.stop();
  } finally {
    await source.query(`ALTER USER postgres PASSWORD '${source.password}'`);
  }
  const found = await objectsOn(source);
  expect(await subscriptionsOn(target)).toEqual([]);
  expect(await syncSlots()).not.toEqual([]);
  const before = new Map(journal.pending().map((entry) => [entry.name, entry]));
  expect(await cleanUpFromJournal(testEngineDependencies({ journal }))).toEqual([]);
  expect(await objectsOn(source)).toEqual([]);
  // The statements that were named do the same.
  for (const object of found.filter((name) => name.startsWith('slot '))) {
    await source.query(`SELECT pg_create_logical_replication_slot('${object.slice(5)}', 'pgoutput')`, 'copying');
  }
  await source.query(`CREATE PUBLICATION "${[...before.keys()][0]}" FOR ALL TABLES`, 'copying');
  expect(await objectsOn(source)).toHaveLength(found.length);
  for (const { statement } of left) await source.query(statement, 'copying');
  expect(await objectsOn(source)).toEqual([]);
});

test.each([`it's "a" \\' back\\slash`, 'Grüße-😀', '%20&=?/#@:'])(
  'the password %s is carried whole, and neither told nor logged',
  async (password) => {
    const { source, target, fresh, job } = servers();
    await fresh('words', table);
    const role = `mover ${randomUUID()}'\\`;
    const literal = `E'${password.replace(/[\\']/g, '\\$&')}'`;
    await source.query(`CREATE ROLE "${role}" SUPERUSER LOGIN PASSWORD ${literal}`);
    await target.query("ALTER SYSTEM SET log_statement = 'all'; ").then(() => target.query('SELECT pg_reload_conf()'));
    const migration = beginMigration(
      await job(['words'], { source: postgresEndpointOf(source, { username: role, password: new Secret(password) }) }),
    );
    await waitForState(migration, ({ status }) => status === 'syncing');
    const shown = JSON.stringify(migration.state());
    await migration.stop();
    expect(target.log()).toContain('DROP SUBSCRIPTION');
    for (const written of [password, literal.slice(2, -1), password.replaceAll("'", "\\'")]) {
      expect(target.log()).not.toContain(written);
      expect(shown).not.toContain(written);
    }
    await source.query(`DROP ROLE "${role}"`);
  },
);
