import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Secret } from '../../../../src/base/secret.ts';
import { schemaCopier } from '../../../../src/db/engine/schema/copy.ts';
import type { SchemaCopied } from '../../../../src/db/engine/schema/target.ts';
import { expectGolden } from '../../../fixtures/golden.ts';
import { type Postgres, startPostgres } from '../../../fixtures/postgres.ts';
import { copySchemaFromCatalog, createEmptyDatabase, databaseEndpointOf, runStatements } from './schema-databases.ts';

describe('the target', () => {
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
});

describe('what a target refuses', () => {
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
});
