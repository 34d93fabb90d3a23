import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Secret } from '../../../../src/base/secret.ts';
import { schemaCopier } from '../../../../src/db/engine/schema/copy.ts';
import type { SchemaCopied } from '../../../../src/db/engine/schema/target.ts';

import { expectGolden } from '../../../fixtures/golden.ts';
import { type Postgres, startPostgres } from '../../../fixtures/postgres.ts';
import { createEmptyDatabase, databaseEndpointOf, runStatements } from './schema-databases.ts';

let server15: Postgres;
beforeAll(async () => {
  server15 = await startPostgres({ version: 15, settings: { wal_level: 'logical' } });
}, 60_000);
afterAll(() => server15.stop(), 60_000);

const copiers = {
  pg_dump: schemaCopier({ env: process.env }),
  'the catalogs': schemaCopier({ env: process.env, folder: '/nonexistent' }),
};
const ways = ['pg_dump', 'the catalogs'] as const;

/** Copies a database with these objects as an owner without SUPERUSER. */
function copyOn15(by: keyof typeof copiers, allowObjects: boolean | undefined, ...statements: readonly string[]) {
  return copy(server15, by, allowObjects, statements);
}

/** `allowObjects` undefined: without a superuser of the target. */
async function copy(
  server: Postgres,
  by: keyof typeof copiers,
  allowObjects: boolean | undefined,
  statements: readonly string[],
) {
  const [source, target] = [await createEmptyDatabase(server), await createEmptyDatabase(server)];
  await runStatements(server, source, statements);
  const owner = `owner_of_${target}`;
  await server.query(`CREATE ROLE ${owner} LOGIN PASSWORD 'owner-word'; ALTER DATABASE ${target} OWNER TO ${owner}`);
  const admin = databaseEndpointOf(server, target);
  const login = { ...admin, username: owner, password: new Secret('owner-word') };
  const superuser = allowObjects === undefined ? undefined : { endpoint: admin, owner, allowObjects };
  const result: SchemaCopied = await copiers[by](
    databaseEndpointOf(server, source),
    login,
    AbortSignal.timeout(60_000),
    superuser,
  );
  const rows = (text: string) => server.query(text, target);
  return { result, owner, rows };
}

test.each(ways)('trusted extensions are created first, in schemas of the owner, by %s', async (by) => {
  const { result, owner, rows } = await copyOn15(
    by,
    false,
    'CREATE SCHEMA "Ext x"; CREATE EXTENSION hstore SCHEMA "Ext x"; CREATE EXTENSION citext',
    `COMMENT ON EXTENSION hstore IS 'mine'; COMMENT ON SCHEMA "Ext x" IS 'ours'`,
    `CREATE TABLE t (id int PRIMARY KEY, h "Ext x".hstore)`,
  );
  expect(result).toMatchObject({ kind: 'copied', warnings: [] });
  expect(
    await rows(`SELECT extname, pg_get_userbyid(extowner) AS by FROM pg_extension WHERE oid > 16383 ORDER BY 1`),
  ).toEqual(['citext', 'hstore'].map((extname) => ({ extname, by: 'postgres' })));
  expect(
    await rows(
      `SELECT pg_get_userbyid(nspowner) AS schema, pg_get_userbyid(relowner) AS "table", obj_description(n.oid) AS comment
       FROM pg_namespace n, pg_class WHERE nspname = 'Ext x' AND relname = 't'`,
    ),
  ).toEqual([{ schema: owner, table: owner, comment: 'ours' }]);
});

const special = [
  'CREATE EXTENSION pg_stat_statements',
  'CREATE EXTENSION postgres_fdw',
  `CREATE FUNCTION tight(int) RETURNS bool LANGUAGE sql LEAKPROOF AS 'SELECT true'`,
  `CREATE FUNCTION inner_abs(int) RETURNS int LANGUAGE internal STRICT AS 'int4abs'`,
  'CREATE OPERATOR FAMILY fam USING btree',
  'CREATE CAST (bytea AS int4) WITH FUNCTION tight_cast(bytea)',
  `CREATE AGGREGATE mine(int8) (SFUNC = int8_avg_accum, STYPE = internal, FINALFUNC = numeric_poly_avg)`,
].toSpliced(5, 0, `CREATE FUNCTION tight_cast(bytea) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 1'`);

test.each(ways)('what only a superuser can create is refused with a list by %s', async (by) => {
  const { result, rows } = await copyOn15(by, false, ...special, 'CREATE TABLE t (id int)');
  expect(result.kind).toBe('refused');
  if (result.kind === 'refused' && by === 'pg_dump') expectGolden('db-migrate', result.objects.join('\n'));
  expect(await rows(`SELECT relname FROM pg_class WHERE relname = 't'`)).toEqual([]);
  expect(await rows('SELECT extname FROM pg_extension WHERE oid > 16383')).toEqual([]);
});

test('what only a superuser can create is created when it is allowed, and the owner is no superuser afterwards', async () => {
  const { result, owner, rows } = await copyOn15('pg_dump', true, ...special, 'CREATE TABLE t (id int)');
  expect(result).toMatchObject({ kind: 'copied' });
  expect(
    await rows(`SELECT proname, pg_get_userbyid(proowner) AS by, proleakproof FROM pg_proc WHERE proname = 'tight'`),
  ).toEqual([{ proname: 'tight', by: owner, proleakproof: true }]);
  expect(await rows(`SELECT rolsuper FROM pg_roles WHERE rolname = '${owner}'`)).toEqual([{ rolsuper: false }]);
});

const last = [
  `CREATE FUNCTION watch() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN END'`,
  `CREATE EVENT TRIGGER "Wa'tch" ON ddl_command_start WHEN TAG IN ('CREATE TABLE', 'DROP TABLE') EXECUTE FUNCTION watch()`,
  `ALTER EVENT TRIGGER "Wa'tch" ENABLE ALWAYS; COMMENT ON EVENT TRIGGER "Wa'tch" IS 'it''s'`,
  `CREATE PUBLICATION everything FOR ALL TABLES WITH (publish = 'insert, update', publish_via_partition_root)`,
  `CREATE TABLE t (id int); CREATE PUBLICATION several FOR TABLE t, TABLES IN SCHEMA public`,
];

test.each(ways)('event triggers and publications are last, and only if that is allowed, by %s', async (by) => {
  const refused = await copyOn15(by, false, ...last);
  expect(refused.result).toMatchObject({ kind: 'copied' });
  if (refused.result.kind === 'copied' && by === 'pg_dump')
    expectGolden('db-migrate', refused.result.warnings.join('\n'));
  expect(await refused.rows('SELECT evtname FROM pg_event_trigger')).toEqual([]);
  expect(await refused.rows('SELECT pubname, puballtables FROM pg_publication')).toEqual([
    { pubname: 'several', puballtables: false },
  ]);
  const { result, rows } = await copyOn15(by, true, ...last);
  expect(await rows('SELECT evtname FROM pg_event_trigger')).toEqual([]);
  for (const statement of (result.kind === 'copied' && result.lastStatements) || []) await rows(statement);
  expect(
    await rows(
      `SELECT evtname, evtevent, evtenabled, evttags::text AS tags, obj_description(oid, 'pg_event_trigger') AS comment FROM pg_event_trigger`,
    ),
  ).toEqual([
    {
      evtname: "Wa'tch",
      evtevent: 'ddl_command_start',
      evtenabled: 'A',
      tags: '{"CREATE TABLE","DROP TABLE"}',
      comment: "it's",
    },
  ]);
  expect(
    await rows(
      'SELECT pubname, puballtables, pubinsert, pubdelete, pubviaroot, (SELECT count(*)::int FROM pg_publication_namespace WHERE pnpubid = p.oid) AS schemas FROM pg_publication p ORDER BY 1',
    ),
  ).toEqual([
    { pubname: 'everything', puballtables: true, pubinsert: true, pubdelete: false, pubviaroot: true, schemas: 0 },
    { pubname: 'several', puballtables: false, pubinsert: true, pubdelete: true, pubviaroot: false, schemas: 1 },
  ]);
});

test.each(ways)('without a superuser of the target, what nothing needs is left out by %s', async (by) => {
  const { result, rows } = await copyOn15(
    by,
    undefined,
    ...last.slice(0, -1),
    'CREATE EXTENSION hstore; CREATE TABLE t (h hstore)',
  );
  expect(result.kind === 'copied' ? result.warnings.length : result).toBe(2);
  expect(await rows('SELECT evtname FROM pg_event_trigger')).toEqual([]);
  expect(await rows('SELECT pubname FROM pg_publication')).toEqual([]);
  expect(await rows(`SELECT relname FROM pg_class WHERE relname = 't'`)).toEqual([{ relname: 't' }]);
});

test.each(ways)('without a superuser of the target, what others need is refused with a list by %s', async (by) => {
  const { result, rows } = await copyOn15(by, undefined, ...special.slice(2), 'CREATE TABLE t (id int)');
  expect(result.kind).toBe('refused');
  if (result.kind === 'refused' && by === 'pg_dump') expectGolden('db-migrate', result.objects.join('\n'));
  expect(await rows(`SELECT relname FROM pg_class WHERE relname = 't'`)).toEqual([]);
});

test('an extension finds those that it requires by the path that RESET restores, and leaves a schema to its users', async () => {
  const modern = await startPostgres({ version: 18 });
  const folder = join(modern.data, 'extension');
  mkdirSync(folder);
  chmodSync(folder, 0o755);
  // As postgis_tiger_geocoder does.
  const script = [
    'CREATE SCHEMA IF NOT EXISTS tiger_data',
    `DO $$ BEGIN PERFORM pg_catalog.set_config('search_path',
       (SELECT reset_val FROM pg_catalog.pg_settings WHERE name = 'search_path'), true); END $$`,
    'CREATE FUNCTION tiger.found(text) RETURNS int LANGUAGE sql IMMUTABLE RETURN length(soundex($1))',
    'ALTER EXTENSION tiger DROP SCHEMA tiger_data',
  ];
  const control = "default_version = '1'\nrelocatable = false\nschema = tiger\nrequires = 'fuzzystrmatch'\n";
  writeFileSync(join(folder, 'tiger.control'), control);
  writeFileSync(join(folder, 'tiger--1.sql'), script.map((statement) => `${statement};\n`).join(''));
  await modern.query(`ALTER SYSTEM SET extension_control_path = '${modern.data}:$system'`);
  await modern.query('SELECT pg_reload_conf()');
  const statements = [
    'CREATE EXTENSION fuzzystrmatch; CREATE EXTENSION tiger',
    'CREATE TABLE tiger_data.roads (id int PRIMARY KEY)',
  ];
  const { result, owner, rows } = await copy(modern, 'the catalogs', true, statements);
  expect(result).toMatchObject({ kind: 'copied' });
  expect(await rows(`SELECT tableowner FROM pg_tables WHERE tablename = 'roads'`)).toEqual([{ tableowner: owner }]);
}, 60_000);

test('a login event trigger is created disabled, with a warning that names how to enable it', async () => {
  const modern = await startPostgres({ version: 17 });
  const { result, rows } = await copy(modern, 'the catalogs', true, [
    `CREATE TABLE logins (who text); CREATE FUNCTION at_login() RETURNS event_trigger LANGUAGE plpgsql
       AS 'BEGIN INSERT INTO public.logins VALUES (session_user); END'`,
    `CREATE EVENT TRIGGER "Log in" ON login EXECUTE FUNCTION at_login()`,
    `ALTER EVENT TRIGGER "Log in" ENABLE ALWAYS; COMMENT ON EVENT TRIGGER "Log in" IS 'it''s'`,
  ]);
  if (result.kind === 'copied') expectGolden('db-migrate', result.warnings.join('\n'));
  for (const statement of (result.kind === 'copied' && result.lastStatements) || []) await rows(statement);
  expect(
    await rows(
      `SELECT evtname, evtevent, evtenabled, obj_description(oid, 'pg_event_trigger') AS comment FROM pg_event_trigger`,
    ),
  ).toEqual([{ evtname: 'Log in', evtevent: 'login', evtenabled: 'D', comment: "it's" }]);
  expect(await rows('SELECT who FROM logins')).toEqual([]);
});
