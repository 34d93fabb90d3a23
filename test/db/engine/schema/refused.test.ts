import { afterAll, beforeAll, expect, test } from 'vitest';
import type { SchemaCopied } from '../../../../src/db/engine/schema/target.ts';
import { expectGolden } from '../../../fixtures/golden.ts';
import { type Postgres, startPostgres } from '../../../fixtures/postgres.ts';
import { copySchemaFromCatalog, createEmptyDatabase, databaseEndpointOf, runStatements } from './schema-databases.ts';

let server: Postgres;
let older: Postgres;
beforeAll(async () => {
  [server, older] = [await startPostgres({ version: 18 }), await startPostgres({ version: 16 })];
}, 60_000);
afterAll(async () => {
  await Promise.all([server.stop(), older.stop()]);
}, 60_000);

const dictionary = `CREATE TEXT SEARCH DICTIONARY plain (TEMPLATE = simple)`;
const wrapper = `CREATE FOREIGN DATA WRAPPER w`;
const remote = `CREATE SERVER s FOREIGN DATA WRAPPER w`;
const operatorFunction = `CREATE FUNCTION same(a int, b text) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT true'`;
const internalFunction = `CREATE FUNCTION in_c(integer) RETURNS integer LANGUAGE internal STRICT AS 'int4abs'`;

/** Each with the statements that make it and the name that must be told. */
const kinds: readonly (readonly [name: string, ...statements: string[]])[] = [
  ['foreign-data wrapper w', wrapper],
  ['foreign server s', wrapper, remote],
  ['foreign table public.ft', wrapper, remote, `CREATE FOREIGN TABLE ft (a int) SERVER s`],
  ['user mapping of server s', wrapper, remote, `CREATE USER MAPPING FOR PUBLIC SERVER s`],
  ['language mine', `CREATE LANGUAGE mine HANDLER plpgsql_call_handler`],
  ['access method mine', `CREATE ACCESS METHOD mine TYPE TABLE HANDLER heap_tableam_handler`],
  ['operator public.==>', operatorFunction, `CREATE OPERATOR ==> (FUNCTION = same, LEFTARG = int, RIGHTARG = text)`],
  ['operator family public.fam', `CREATE OPERATOR FAMILY fam USING btree`],
  [
    'operator class public.cls',
    `CREATE OPERATOR CLASS cls FOR TYPE int4 USING btree AS OPERATOR 1 <, FUNCTION 1 btint4cmp(int4, int4)`,
  ],
  ['conversion public.conv', `CREATE CONVERSION conv FOR 'LATIN1' TO 'UTF8' FROM iso8859_1_to_utf8`],
  ['text search configuration public.mine', `CREATE TEXT SEARCH CONFIGURATION mine (COPY = simple)`],
  ['text search dictionary public.plain', dictionary],
  [
    'text search parser public.p',
    `CREATE TEXT SEARCH PARSER p (START = prsd_start, GETTOKEN = prsd_nexttoken, END = prsd_end, LEXTYPES = prsd_lextype)`,
  ],
  ['text search template public.t', `CREATE TEXT SEARCH TEMPLATE t (LEXIZE = dsimple_lexize)`],
  ['function public.in_c(integer) in language internal', internalFunction],
  ['base type public.shell', `CREATE TYPE shell`],
  [
    'base type public.mine',
    `CREATE TYPE mine`,
    `CREATE FUNCTION mine_in(cstring) RETURNS mine LANGUAGE internal STRICT IMMUTABLE AS 'int4in'`,
    `CREATE FUNCTION mine_out(mine) RETURNS cstring LANGUAGE internal STRICT IMMUTABLE AS 'int4out'`,
    `CREATE TYPE mine (INPUT = mine_in, OUTPUT = mine_out, INTERNALLENGTH = 4, PASSEDBYVALUE)`,
  ],
  [
    'range type public.whole with a canonical function',
    `CREATE TYPE whole`,
    `CREATE FUNCTION whole_canonical(whole) RETURNS whole LANGUAGE internal STRICT IMMUTABLE AS 'int4range_canonical'`,
    `CREATE TYPE whole AS RANGE (subtype = int4, canonical = whole_canonical)`,
  ],
  [
    'transform for public.hstore in language plpgsql',
    `CREATE EXTENSION hstore`,
    `CREATE FUNCTION from_h(internal) RETURNS internal LANGUAGE internal IMMUTABLE AS 'int4recv'`,
    `CREATE TRANSFORM FOR hstore LANGUAGE plpgsql (FROM SQL WITH FUNCTION from_h(internal))`,
  ],
  [
    'function pg_catalog.hidden in a system schema',
    `SET allow_system_table_mods = on; CREATE FUNCTION pg_catalog.hidden() RETURNS int LANGUAGE sql AS 'SELECT 1'`,
  ],
  [
    'relation information_schema.hidden in a system schema',
    `SET allow_system_table_mods = on; CREATE TABLE information_schema.hidden (a int)`,
  ],
];

test.each(kinds)('%s is reported, and nothing is created', async (name, ...statements) => {
  const [source, target] = [await createEmptyDatabase(server), await createEmptyDatabase(server)];
  await runStatements(server, source, [...statements, 'CREATE TABLE beside (a int)']);
  const result = await copySchemaFromCatalog(
    databaseEndpointOf(server, source),
    databaseEndpointOf(server, target),
    AbortSignal.timeout(30_000),
  );
  expect(result).toMatchObject({ kind: 'refused', objects: expect.arrayContaining([name]) });
  expect(await tables(server, target)).toEqual([]);
});

test('a partition with a separate identity column is refused for a target where partitions share it', async () => {
  const [source, target] = [await createEmptyDatabase(older), await createEmptyDatabase(server)];
  await runStatements(older, source, [
    `CREATE TABLE p (a int, b int) PARTITION BY LIST (b)`,
    `CREATE TABLE p1 (a int GENERATED ALWAYS AS IDENTITY, b int)`,
    `ALTER TABLE p ATTACH PARTITION p1 FOR VALUES IN (1)`,
  ]);
  const result = await copySchemaFromCatalog(
    databaseEndpointOf(older, source),
    databaseEndpointOf(server, target),
    AbortSignal.timeout(30_000),
  );
  expectRefused(result, ['public.p1']);
});

test('roles and extensions that the target does not have are reported before anything is created', async () => {
  const [source, target] = [await createEmptyDatabase(older), await createEmptyDatabase(server)];
  await older.query(`CREATE ROLE "some auditor"`);
  await runStatements(older, source, [
    `CREATE TABLE t (a int)`,
    `CREATE POLICY his ON t TO "some auditor" USING (true)`,
    `CREATE EXTENSION old_snapshot`,
  ]);
  const result = await copySchemaFromCatalog(
    databaseEndpointOf(older, source),
    databaseEndpointOf(server, target),
    AbortSignal.timeout(30_000),
  );
  expectRefused(result, ['extension old_snapshot', 'policy his of public.t']);
  expect(await tables(server, target)).toEqual([]);
});

test('objects of a dependency cycle are reported', async () => {
  const [source, target] = [await createEmptyDatabase(server), await createEmptyDatabase(server)];
  await runStatements(server, source, [
    `CREATE TABLE t (a int)`,
    `CREATE FUNCTION f() RETURNS int LANGUAGE sql IMMUTABLE BEGIN ATOMIC SELECT 1 FROM t; END`,
    `ALTER TABLE t ADD COLUMN b int GENERATED ALWAYS AS (f()) STORED`,
  ]);
  const result = await copySchemaFromCatalog(
    databaseEndpointOf(server, source),
    databaseEndpointOf(server, target),
    AbortSignal.timeout(30_000),
  );
  expectRefused(result, ['function public.f()', 'table public.t']);
});

test('a newer source is refused', async () => {
  const [source, target] = [await createEmptyDatabase(server), await createEmptyDatabase(older)];
  const result = await copySchemaFromCatalog(
    databaseEndpointOf(server, source),
    databaseEndpointOf(older, target),
    AbortSignal.timeout(30_000),
  );
  expectRefused(result, ['PostgreSQL 18']);
});

test('a target that is not empty is refused and not changed', async () => {
  const [source, target] = [await createEmptyDatabase(server), await createEmptyDatabase(server)];
  await runStatements(server, target, ['CREATE TABLE "My own" (a int)', 'CREATE EXTENSION citext']);
  const result = await copySchemaFromCatalog(
    databaseEndpointOf(server, source),
    databaseEndpointOf(server, target),
    AbortSignal.timeout(30_000),
  );
  expectRefused(result, ['public.My own']);
  expect(await tables(server, target)).toEqual(['My own']);
});

test('a source with SQL_ASCII is refused for a target with another encoding', async () => {
  const [source, target] = [await createEmptyDatabase(server), await createEmptyDatabase(server)];
  await server.query(
    `CREATE DATABASE ${source}_raw TEMPLATE template0 ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C'`,
  );
  const endpoints = [databaseEndpointOf(server, `${source}_raw`), databaseEndpointOf(server, target)] as const;
  expectRefused(await copySchemaFromCatalog(...endpoints, AbortSignal.timeout(30_000)), ['SQL_ASCII']);
});

test('an object that the target rejects is reported with its error, and nothing is created', async () => {
  const [source, target] = [await createEmptyDatabase(older), await createEmptyDatabase(server)];
  // PostgreSQL 17 has no such column any more.
  await runStatements(older, source, [
    `CREATE TABLE t (a int)`,
    `CREATE VIEW v AS SELECT buffers_backend FROM pg_stat_bgwriter`,
  ]);
  const result = await copySchemaFromCatalog(
    databaseEndpointOf(older, source),
    databaseEndpointOf(server, target),
    AbortSignal.timeout(30_000),
  );
  expectRefused(result, ['view public.v']);
  expect(await tables(server, target)).toEqual([]);
});

/** Refused for these objects, in this order, and with the texts of the golden file. */
function expectRefused(result: SchemaCopied, objects: readonly string[]): void {
  expect(result).toEqual({ kind: 'refused', objects: objects.map((name) => expect.stringContaining(name)) });
  expectGolden('db-migrate', result.kind === 'refused' ? result.objects.join('\n') : '');
}

async function tables(postgres: Postgres, database: string): Promise<readonly string[]> {
  const rows = await postgres.query(`SELECT relname FROM pg_class WHERE oid >= 16384 AND relkind = 'r'`, database);
  return rows.map(({ relname }) => String(relname));
}
