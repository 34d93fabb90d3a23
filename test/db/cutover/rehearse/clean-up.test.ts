import { existsSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRecordFile, readRehearsal, rehearsalPath } from '../../../../src/db/cutover/rehearse/record.ts';
import { openRehearsal } from '../../../../src/db/cutover/rehearse/run.ts';
import { replicationName } from '../../../../src/db/engine/postgresql/names.ts';
import { argsFrom, commandIo } from '../../../fixtures/command-io.ts';
import { expectGolden } from '../../../fixtures/golden.ts';
import { type TestHost, testHost } from '../../../fixtures/host.ts';
import { type Postgres, startPostgres } from '../../../fixtures/postgres.ts';
import { postgresEndpointOf } from '../../engine/servers.ts';

let server: Postgres;
let system: string;

beforeAll(async () => {
  server = await startPostgres({ version: 17 });
  system = String((await server.query('SELECT system_identifier::text AS id FROM pg_control_system()'))[0]?.id);
});

afterAll(() => server?.stop());

const id = 'aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee';
const owner = replicationName(id, '16384');
const nothing = { extensions: ['plpgsql'], schemas: ['public'], publications: [], eventTriggers: [] };

/** The source is never reached: an interrupted rehearsal without replication objects left nothing there. */
const source = {
  ...{ host: '127.0.0.1', port: 1, dbname: 'shop', username: 'u', password: undefined },
  ssl: 'disable',
} as const;

function open(host: TestHost) {
  return openRehearsal(commandIo(host), {
    source: { engine: 'postgresql', source } as Parameters<typeof openRehearsal>[1]['source'],
    target: { engine: 'postgresql', source: postgresEndpointOf(server), isTlsExplicit: true },
    ...{ args: argsFrom({}), signal: new AbortController().signal, keep: false, stallTimeout: 1000, interval: 1000 },
  });
}

/** The next rehearsal of the same source and target; resolves with the error of its clean-up. */
async function runAgain(host: TestHost): Promise<unknown> {
  const run = await open(host);
  try {
    return await run.inspectTarget().then(
      () => undefined,
      (error: unknown) => error,
    );
  } finally {
    await run.close();
  }
}

/** Writes the record of a killed rehearsal. */
function leaveRecord(host: TestHost, part: object): string {
  const names = { source: '127.0.0.1:1', target: `127.0.0.1:${server.port}` };
  const path = rehearsalPath(host.folders.state, names.source, names.target);
  createRecordFile(path, {
    ...{ id, engine: 'postgresql', ...names, command: 'cloudctl db rehearse', system },
    ...{ databases: [], roles: [], filled: [], objects: [], ...part },
  });
  return path;
}

async function createDatabase(name: string): Promise<string> {
  await server.query(`CREATE DATABASE ${name}`);
  return oidOf(name);
}

async function oidOf(name: string): Promise<string> {
  return String((await server.query(`SELECT oid::text FROM pg_database WHERE datname = '${name}'`))[0]?.oid);
}

test('rows of others in a database that a killed rehearsal filled remain, and the report names them once', async () => {
  const host = testHost();
  const oid = await createDatabase('shared');
  await server.query(`CREATE ROLE ${owner}`);
  await server.query(
    `CREATE SCHEMA copied; CREATE TABLE copied.t (id serial PRIMARY KEY); CREATE TABLE public.u (id int);
     CREATE FUNCTION copied.f() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN END';
     CREATE EVENT TRIGGER of_copy ON sql_drop EXECUTE FUNCTION copied.f(); SELECT lo_create(11);
     ALTER SCHEMA copied OWNER TO ${owner}; ALTER TABLE copied.t OWNER TO ${owner}; ALTER TABLE public.u OWNER TO ${owner};
     ALTER FUNCTION copied.f() OWNER TO ${owner}; ALTER LARGE OBJECT 11 OWNER TO ${owner};
     CREATE TABLE public."Theirs" (id int); INSERT INTO "Theirs" SELECT generate_series(1, 7); SELECT lo_create(12);
     CREATE EXTENSION hstore; CREATE PUBLICATION theirs FOR ALL TABLES`,
    'shared',
  );
  const path = leaveRecord(host, { filled: [{ name: 'shared', oid, ...nothing }] });
  const error = await runAgain(host);
  expect(error).toMatchObject({ code: 'rehearsal_failed' });
  const { detail, hint } = error as { readonly detail: string; readonly hint: string };
  expect(detail.split('\n')).toEqual([
    expect.stringContaining('DROP table public."Theirs" CASCADE'),
    expect.stringContaining('SELECT pg_catalog.lo_unlink(12)'),
    expect.stringContaining('DROP extension hstore CASCADE'),
    expect.stringContaining('DROP publication theirs CASCADE'),
  ]);
  expectGolden('db-rehearse', `${detail}\n${hint}`);
  expect(await server.query('SELECT count(*)::int AS rows FROM "Theirs"', 'shared')).toEqual([{ rows: 7 }]);
  expect(await server.query('SELECT oid::int FROM pg_largeobject_metadata', 'shared')).toEqual([{ oid: 12 }]);
  expect(await server.query("SELECT relname FROM pg_class WHERE relname IN ('t', 'u')", 'shared')).toEqual([]);
  expect(await server.query(`SELECT 1 FROM pg_roles WHERE rolname = '${owner}'`)).toEqual([]);
  expect(existsSync(path)).toBe(false);
  expect(await runAgain(host)).toBeUndefined();
});

test('copied objects are dropped although a superuser has an extension in their schema', async () => {
  const host = testHost();
  const oid = await createDatabase('extended');
  await server.query(`CREATE ROLE ${owner}`);
  await server.query(
    `CREATE SCHEMA ext; CREATE EXTENSION hstore SCHEMA ext; CREATE TABLE ext.t (id int);
     ALTER TABLE ext.t OWNER TO ${owner}; ALTER SCHEMA ext OWNER TO ${owner}`,
    'extended',
  );
  const path = leaveRecord(host, { filled: [{ name: 'extended', oid, ...nothing }] });
  const { detail } = (await runAgain(host)) as { readonly detail: string };
  expect(detail.split('\n')).toEqual([
    expect.stringContaining('DROP schema ext CASCADE'),
    expect.stringContaining('DROP extension hstore CASCADE'),
  ]);
  expect(await server.query("SELECT 1 FROM pg_class WHERE relname = 't'", 'extended')).toEqual([]);
  expect(await server.query(`SELECT 1 FROM pg_roles WHERE rolname = '${owner}'`)).toEqual([]);
  expect(existsSync(path)).toBe(false);
});

test('an object of others that depends on a copied table keeps both, and the next run tries again', async () => {
  const host = testHost();
  const oid = await createDatabase('linked');
  await server.query(`CREATE ROLE ${owner}`);
  await server.query(
    `CREATE TABLE t (id int PRIMARY KEY); ALTER TABLE t OWNER TO ${owner}; CREATE VIEW theirs AS SELECT * FROM t`,
    'linked',
  );
  // The role without an oid may belong to others, so it is reported once.
  const path = leaveRecord(host, { filled: [{ name: 'linked', oid, ...nothing }], roles: [{ name: 'postgres' }] });
  const { detail } = (await runAgain(host)) as { readonly detail: string };
  for (const named of [`DROP OWNED BY "${owner}" CASCADE`, 'role postgres']) expect(detail).toContain(named);
  expect(readRehearsal(path)).toMatchObject({ filled: [{ name: 'linked' }], roles: [] });
  expect(await server.query('SELECT * FROM theirs', 'linked')).toEqual([]);
  await server.query('DROP VIEW theirs', 'linked');
  expect(await runAgain(host)).toBeUndefined();
  expect(await server.query("SELECT 1 FROM pg_class WHERE relname = 't'", 'linked')).toEqual([]);
  expect(existsSync(path)).toBe(false);
});

test('a database with another oid is not touched, and no leftover', async () => {
  const host = testHost();
  await createDatabase('recreated');
  await server.query('CREATE TABLE theirs (id int)', 'recreated');
  leaveRecord(host, {
    filled: [
      { name: 'recreated', oid: '1', ...nothing },
      { name: 'dropped', oid: '2', ...nothing },
    ],
  });
  expect(await runAgain(host)).toBeUndefined();
  expect(await server.query('SELECT * FROM theirs', 'recreated')).toEqual([]);
});

test('a record without oids is read, and what is not owned by a role of the rehearsal is left', async () => {
  const host = testHost();
  await createDatabase('old');
  await server.query('CREATE TABLE theirs (id int)', 'old');
  const { eventTriggers: _, ...before } = nothing;
  const path = leaveRecord(host, {
    filled: [{ name: 'old', ...before }],
    databases: [{ name: 'old' }],
    roles: [{ name: 'postgres' }],
  });
  expect(readRehearsal(path)).toMatchObject({ filled: [{ name: 'old', ...before }] });
  const { detail } = (await runAgain(host)) as { readonly detail: string };
  for (const named of ['table public.theirs', 'database old', 'role postgres']) expect(detail).toContain(named);
  expect(await server.query('SELECT * FROM theirs', 'old')).toEqual([]);
  expect(await runAgain(host)).toBeUndefined();
});

test('the copies that --keep left are not dropped because something was left on the source', async () => {
  const host = testHost();
  const oid = await createDatabase('kept');
  const path = leaveRecord(host, { databases: [{ name: 'kept', oid }], kept: true });
  expect(readRehearsal(path)).toMatchObject({ kept: true });
  expect(await runAgain(host)).toBeUndefined();
  expect(await oidOf('kept')).toBe(oid);
  expect(existsSync(path)).toBe(false);
});

test('a target that was set up again is reported once, and not on every run', async () => {
  const host = testHost();
  const oid = await createDatabase('other_server');
  leaveRecord(host, { system: '1', databases: [{ name: 'other_server', oid }] });
  expect(await runAgain(host)).toMatchObject({ code: 'rehearsal_failed' });
  expect(await oidOf('other_server')).toBe(oid);
  expect(await runAgain(host)).toBeUndefined();
});

test('a database that a killed rehearsal created is dropped unless others have created objects in it', async () => {
  const host = testHost();
  const [used, unused] = [await createDatabase('used'), await createDatabase('unused')];
  await server.query(`CREATE ROLE ${owner}`);
  for (const name of ['used', 'unused'])
    await server.query(
      `CREATE TABLE t (id int); ALTER TABLE t OWNER TO ${owner}; CREATE SCHEMA ext; CREATE EXTENSION hstore SCHEMA ext;
       CREATE TYPE period AS RANGE (subtype = int4); ALTER TYPE period OWNER TO ${owner}`,
      name,
    );
  await server.query('CREATE TABLE theirs AS SELECT 1 AS id', 'used');
  const databases = [
    { name: 'used', oid: used },
    { name: 'unused', oid: unused },
    { name: 'gone', oid: '3' },
  ];
  leaveRecord(host, { databases });
  const { detail } = (await runAgain(host)) as { readonly detail: string };
  for (const named of ['database used', 'table public.theirs', `DROP ROLE "${owner}"`]) expect(detail).toContain(named);
  expect(detail).not.toContain('database unused');
  expect(await server.query('SELECT * FROM theirs', 'used')).toEqual([{ id: 1 }]);
  expect(await oidOf('unused')).toBe('undefined');
  // Whoever uses the database may keep it, with the role that owns the copies.
  expect(await runAgain(host)).toBeUndefined();
  expect(await server.query('SELECT * FROM t', 'used')).toEqual([]);
  await server.query('DROP DATABASE used');
  await server.query(`DROP ROLE ${owner}`);
});
