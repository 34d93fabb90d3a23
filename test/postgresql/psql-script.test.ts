import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { formatPsqlConnect, psqlSetup, singleLineSql } from '../../src/postgresql/psql-script.ts';
import { quoteIdentifier, quoteLiteral } from '../../src/postgresql/quote.ts';
import { hostileNames } from '../fixtures/hostile-names.ts';
import { lacks } from '../fixtures/needs.ts';
import { type Postgres, startPostgres } from '../fixtures/postgres.ts';
import { runPsql } from '../fixtures/psql.ts';

test.each([
  ['SELECT 1', 'SELECT 1;'],
  ['SELECT 1;', 'SELECT 1;'],
  ['ALTER TABLE "public"."t"\n  REPLICA IDENTITY FULL', 'ALTER TABLE "public"."t" REPLICA IDENTITY FULL;'],
  ["SELECT 'it''s'::text", "SELECT 'it''s'::text;"],
  ["SELECT (ARRAY['(', ']'])[1]", "SELECT (ARRAY['(', ']'])[1];"],
  ["SELECT E'a\\\\b'", "SELECT E'a\\\\b';"],
  ["SELECT 'a\\b\n'", "SELECT E'a\\\\b\\u000a';"],
  ['DROP TABLE "a\n\\! b"', 'DROP TABLE U&"a\\000a\\\\! b";'],
  ['DROP TABLE "Ü😀""x"', 'DROP TABLE U&"\\00dc\\+01f600""x";'],
])('the statement %j is one line of ASCII', (sql, line) => {
  expect(singleLineSql(sql)).toBe(line);
});

test.each([
  '',
  'SELECT 1 \\! touch canary',
  'SELECT 1\n\\! touch canary',
  'SELECT 1; SELECT 2',
  'SELECT 1 -- x',
  'SELECT 1 /* x */',
  'SELECT :name',
  "SELECT :'name'",
  'SELECT $$x$$',
  'SELECT "open',
  "SELECT 'open",
  "SELECT E'open\\'",
  'SELECT "a\0b"',
  'SELECT ü',
  'SELECT (1',
  'SELECT 1)',
  'SELECT ARRAY[(1])',
  "SELECT U&'\\0061'",
  'SELECT U&"x"',
])('the text %j is not written as a statement', (sql) => {
  expect(singleLineSql(sql)).toBeUndefined();
});

test('the empty name would be the database of the connection before', () => {
  expect(formatPsqlConnect('')).toBeUndefined();
  expect(formatPsqlConnect('a\0b')).toBeUndefined();
});

describe.skipIf(lacks('psql'))('the real psql', () => {
  let server: Postgres;
  beforeAll(async () => {
    server = await startPostgres({ version: 18 });
    for (const name of hostileNames) await server.query(`CREATE DATABASE ${quoteIdentifier(name)}`);
  }, 120_000);
  afterAll(() => server?.stop());

  test.each(hostileNames)('connects to the database %j, and finds its names there', async (name) => {
    const id = quoteIdentifier(name);
    const statements = [
      `CREATE SCHEMA ${id}`,
      `CREATE TABLE ${id}.${id} (${id} text DEFAULT ${quoteLiteral(name)})`,
      `COMMENT ON TABLE ${id}.${id} IS ${quoteLiteral(name)}`,
      `DO ${quoteLiteral(`BEGIN EXECUTE ${quoteLiteral(`CREATE ROLE ${id}`)}; END`)}`,
    ].map((sql) => singleLineSql(sql));
    const script = ['\\set ON_ERROR_STOP on', formatPsqlConnect(name), ...psqlSetup, ...statements].join('\n');
    expect(script).toMatch(/^[\x20-\x7e\n]*$/);
    const ran = runPsql(server, script);
    expect(ran).toMatchObject({ code: 0, stderr: '', created: [] });
    const [row] = await server.query(
      `SELECT n.nspname, c.relname, a.attname, obj_description(c.oid) AS comment, pg_get_expr(d.adbin, d.adrelid) AS value
       FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = 1
       JOIN pg_attrdef d ON d.adrelid = c.oid WHERE c.relkind = 'r' AND c.oid >= 16384`,
      name,
    );
    expect(row).toMatchObject({ nspname: name, relname: name, attname: name, comment: name });
    expect(await server.query(`SELECT 1 FROM pg_roles WHERE rolname = ${quoteLiteral(name)}`)).toHaveLength(1);
    expect(await server.query("SELECT 1 FROM pg_roles WHERE rolname = 'pwned'")).toEqual([]);
  });

  test.each(['GBK', 'SJIS', 'BIG5', 'JOHAB', 'UHC', 'GB18030'])(
    'a database that sets client_encoding %s moves no quote',
    async (encoding) => {
      const name = 't€"€"\\! touch canary';
      await server.query(`ALTER DATABASE ${quoteIdentifier(name)} SET client_encoding = '${encoding}'`);
      await server.query(`ALTER DATABASE ${quoteIdentifier(name)} SET standard_conforming_strings = off`);
      const statements = [
        `COMMENT ON SCHEMA ${quoteIdentifier(name)} IS ${quoteLiteral(`${name}'${encoding}`)}`,
        `COMMENT ON DATABASE ${quoteIdentifier(name)} IS ${quoteLiteral(name)}`,
      ].map((sql) => singleLineSql(sql));
      const ran = runPsql(server, [formatPsqlConnect(name), ...psqlSetup, ...statements].join('\n'));
      expect(ran).toMatchObject({ code: 0, stderr: '', created: [] });
      const [row] = await server.query(
        'SELECT obj_description(oid) AS text FROM pg_namespace WHERE oid >= 16384',
        name,
      );
      expect(row).toEqual({ text: `${name}'${encoding}` });
    },
  );

  test('a database that sets search_path gets no function of its own called', async () => {
    await server.query('CREATE SCHEMA evil');
    await server.query("CREATE FUNCTION evil.pg_reload_conf() RETURNS bool LANGUAGE sql AS 'SELECT 1/0 > 0'");
    await server.query('ALTER DATABASE postgres SET search_path = evil, pg_catalog');
    const script = [...psqlSetup, 'SELECT pg_reload_conf();'].join('\n');
    expect(runPsql(server, script)).toMatchObject({ code: 0, stderr: '' });
    await server.query('ALTER DATABASE postgres RESET search_path');
  });
});
