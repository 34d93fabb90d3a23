import { afterAll, beforeAll, expect, test } from 'vitest';
import { Secret } from '../../../../src/base/secret.ts';
import { planObjects } from '../../../../src/db/engine/schema/catalog.ts';
import { connectPostgresql } from '../../../../src/postgresql/connection.ts';
import { makeSessionSafe } from '../../../../src/postgresql/search-path-safe-session.ts';
import { expectGolden } from '../../../fixtures/golden.ts';
import { type Postgres, startPostgres } from '../../../fixtures/postgres.ts';
import { eventually } from '../../../fixtures/redis.ts';
import { copySchemaFromCatalog, createEmptyDatabase, databaseEndpointOf, runStatements } from './schema-databases.ts';
import { schemaSnapshot } from './schema-snapshot.ts';

let server: Postgres;
beforeAll(async () => {
  server = await startPostgres({ version: 17, settings: { wal_level: 'logical' } });
}, 60_000);
afterAll(() => server.stop(), 60_000);

test('properties that are not copied are reported', async () => {
  const [source, target] = [await createEmptyDatabase(server), await createEmptyDatabase(server)];
  await server.query(`CREATE ROLE owner_of_it`);
  await runStatements(server, source, [
    `CREATE TABLE t (a int PRIMARY KEY, b int)`,
    `INSERT INTO t VALUES (1, 1), (2, 1)`,
    `GRANT SELECT ON t TO owner_of_it`,
    `CREATE VIEW v AS SELECT 1`,
    `ALTER VIEW v OWNER TO owner_of_it`,
    `CREATE SUBSCRIPTION sub CONNECTION 'host=nowhere password=hidden' PUBLICATION p WITH (connect = false)`,
    `CREATE TABLE refers (a int CONSTRAINT fk REFERENCES t)`,
    `ALTER TABLE refers DISABLE TRIGGER ALL`,
  ]);
  await server.query('CREATE UNIQUE INDEX CONCURRENTLY never ON t (b)', source).catch(() => {});
  const result = await copySchemaFromCatalog(
    databaseEndpointOf(server, source),
    databaseEndpointOf(server, target),
    AbortSignal.timeout(30_000),
  );
  expect(result.kind).toBe('copied');
  expectGolden('db-migrate', result.kind === 'copied' ? result.warnings.join('\n') : '');
  await server.query('ALTER SUBSCRIPTION sub SET (slot_name = NONE)', source);
  await server.query('DROP SUBSCRIPTION sub', source);
});

test('settings of roles and databases change nothing', async () => {
  const [source, target] = [await createEmptyDatabase(server), await createEmptyDatabase(server)];
  await server.query(`ALTER DATABASE ${source} SET search_path = other`);
  await server.query(`ALTER DATABASE ${source} SET datestyle = 'SQL, DMY'`);
  await server.query(`ALTER DATABASE ${target} SET datestyle = 'SQL, MDY'`);
  await server.query(`ALTER DATABASE ${target} SET standard_conforming_strings = off`);
  await server.query(`ALTER DATABASE ${target} SET default_transaction_read_only = on`);
  await runStatements(server, source, [
    `CREATE SCHEMA other`,
    `CREATE TABLE other.t (d date DEFAULT '03/02/2024', b text DEFAULT E'back\\\\slash', CHECK (d <> '01/02/2024'))`,
  ]);
  const result = await copySchemaFromCatalog(
    databaseEndpointOf(server, source),
    databaseEndpointOf(server, target),
    AbortSignal.timeout(30_000),
  );
  expect(result).toMatchObject({ kind: 'copied' });
  for (const name of [source, target]) await server.query(`ALTER DATABASE ${name} RESET ALL`);
  expect(await schemaSnapshot(server, target, 17)).toEqual(await schemaSnapshot(server, source, 17));
});

test('a role without more than its login can read a schema', async () => {
  const [source, target] = [await createEmptyDatabase(server), await createEmptyDatabase(server)];
  await server.query(`CREATE ROLE reader LOGIN PASSWORD 'reads'`);
  await runStatements(server, source, [`CREATE SCHEMA closed`, `CREATE TABLE closed.t (a int DEFAULT 3)`]);
  const endpoint = { ...databaseEndpointOf(server, source), username: 'reader', password: new Secret('reads') };
  const result = await copySchemaFromCatalog(endpoint, databaseEndpointOf(server, target), AbortSignal.timeout(30_000));
  expect(result).toMatchObject({ kind: 'copied' });
  expect(await schemaSnapshot(server, target, 17)).toEqual(await schemaSnapshot(server, source, 17));
});

test('names in LATIN1 arrive in UTF8', async () => {
  const [name, target] = [`${await createEmptyDatabase(server)}_latin`, await createEmptyDatabase(server)];
  await server.query(`CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'LATIN1'`);
  await runStatements(server, name, [`CREATE TABLE "été" (a text DEFAULT 'ça')`]);
  const result = await copySchemaFromCatalog(
    databaseEndpointOf(server, name),
    databaseEndpointOf(server, target),
    AbortSignal.timeout(30_000),
  );
  expect(result).toMatchObject({ kind: 'copied' });
  expect(await schemaSnapshot(server, target, 17)).toEqual(await schemaSnapshot(server, name, 17));
});

test('a copy that is stopped leaves nothing', async () => {
  const [source, target] = [await createEmptyDatabase(server), await createEmptyDatabase(server)];
  await runStatements(server, source, ['CREATE SCHEMA first', 'CREATE TABLE first.t (a serial PRIMARY KEY)']);
  const blocker = await makeSessionSafe(
    await connectPostgresql(databaseEndpointOf(server, target), { dbname: target, limit: 10_000 }),
  );
  await blocker.query('BEGIN; LOCK TABLE pg_class IN SHARE MODE');
  const stop = new AbortController();
  const running = copySchemaFromCatalog(
    databaseEndpointOf(server, source),
    databaseEndpointOf(server, target),
    stop.signal,
  );
  const refused = expect(running).rejects.toMatchObject({ code: 'ABORTED' });
  const others = `SELECT 1 FROM pg_stat_activity WHERE datname = '${target}' AND application_name = 'cloudctl-schema'`;
  await eventually(async () => (await server.query(`${others} AND wait_event_type = 'Lock'`)).length > 0, 'the lock');
  stop.abort();
  await refused;
  await blocker.end();
  await eventually(async () => (await server.query(others)).length === 0, 'the end of the session');
  expect(await server.query(`SELECT nspname FROM pg_namespace WHERE nspname = 'first'`, target)).toEqual([]);
}, 60_000);

test('comments on what an extension brings are left to it, and a text that is no text is refused', () => {
  const part = (
    id: string,
    kind: 'comment' | 'table' | 'extension',
    dependsOn: readonly string[],
    text = 'SELECT 1',
  ) => ({
    id,
    kind,
    name: id,
    dependsOn,
    requirements: [],
    statements: [text],
  });
  const plan = planObjects({
    parts: [
      part('pg_extension:1', 'extension', []),
      part('pg_class:2', 'table', [], 'CREATE TABLE "\uFFFD" ()'),
      part('comment:1', 'comment', ['pg_extension:1']),
      part('comment:2', 'comment', ['pg_class:2']),
      part('comment:3', 'comment', ['pg_class:3']),
      part('comment:4', 'comment', ['pg_class:4']),
      part('comment:5', 'comment', ['pg_namespace:2200']),
    ],
    dependencies: [],
    containedEntries: [['pg_class:3', 'pg_extension:1']],
  });
  expect(plan.parts.map(({ id }) => id)).toEqual([
    'pg_extension:1',
    'pg_class:2',
    'comment:1',
    'comment:2',
    'comment:5',
  ]);
  expect(plan.obstacles).toEqual([expect.stringMatching(/^pg_class:2 \(/)]);
});
