import { expect, test } from 'vitest';
import { bodyDdlQuery } from '../../../../../src/db/preflight/postgresql/queries/body-ddl.ts';

const read = (body: string, lanname = 'plpgsql') =>
  bodyDdlQuery.decode([{ signature: 'public.f()', body, lanname, relation: null }]);

test.each([
  { body: 'BEGIN DROP TABLE IF EXISTS r; CREATE TABLE r AS SELECT 1; END', does: ['DROP TABLE', 'CREATE TABLE'] },
  {
    body: 'IF x THEN CREATE SCHEMA s; ELSE ALTER TYPE e ADD VALUE $$x$$; END IF',
    does: ['CREATE SCHEMA', 'ALTER TYPE'],
  },
  { body: 'LOOP CREATE SEQUENCE IF NOT EXISTS s; END LOOP; DROP DOMAIN d', does: ['CREATE SEQUENCE', 'DROP DOMAIN'] },
  { body: 'ALTER TABLE ONLY a.t * RENAME TO u', does: ['ALTER TABLE'] },
  { body: 'ALTER SEQUENCE s RENAME TO t', does: ['ALTER SEQUENCE'] },
  { body: 'CREATE UNLOGGED TABLE t (a int); ALTER TABLE t SET LOGGED', does: ['ALTER TABLE'] },
  { body: 'CREATE TEMP TABLE a (b int); DROP TABLE a, c', does: ['DROP TABLE'] },
  { body: "EXECUTE 'CREATE TABLE ' || quote_ident(t) || ' (a int)'", does: ['CREATE TABLE'] },
  { body: "EXECUTE concat('CREATE TABLE ', t, '(a int)')", does: ['CREATE TABLE'] },
  { body: "EXECUTE format('CREATE TABLE %I.%I (a int)', s, t)", does: ['CREATE TABLE'] },
  { body: "DECLARE q text := 'DROP TABLE t'; BEGIN EXECUTE q; END", does: ['DROP TABLE'] },
  {
    body: "FOR r IN SELECT 1 LOOP EXECUTE 'SELECT 1; ALTER TABLE ' || r.t || ' ADD c int'; END LOOP",
    does: ['ALTER TABLE'],
  },
  { body: 'DO $do$ BEGIN EXECUTE $q$CREATE TABLE t ()$q$; END $do$', does: ['CREATE TABLE'] },
  { body: "EXECUTE format('CREATE TEMP TABLE %I ()', a); EXECUTE format('DROP TABLE %I', b)", does: ['DROP TABLE'] },
])('$body', ({ body, does }) => {
  expect(read(body)).toEqual([{ by: 'public.f()', statements: does, partition: false }]);
});

test.each([
  { body: 'SELECT * INTO r FROM t', language: 'sql' },
  {
    body: 'DELETE FROM t; WITH w AS (INSERT INTO u VALUES (1) RETURNING *) SELECT a INTO TABLE s.r FROM w',
    language: 'sql',
  },
])('a table by SELECT INTO: $body', ({ body, language }) => {
  expect(read(body, language)).toMatchObject([{ statements: ['SELECT INTO'] }]);
});

test.each([
  { body: 'SELECT a INTO v FROM t; WITH w AS (SELECT 1) SELECT * INTO v FROM w', language: 'plpgsql' },
  { body: 'SELECT a INTO TEMP r FROM t; DROP TABLE r', language: 'sql' },
  { body: 'WITH w AS (SELECT 1) INSERT INTO t SELECT * FROM w', language: 'sql' },
  { body: 'INSERT INTO t SELECT * FROM u; SELECT count(*) FROM t', language: 'sql' },
  { body: "EXECUTE 'WITH w AS (SELECT 1 AS a) SELECT a INTO ' || r || ' FROM w'", language: 'plpgsql' },
  { body: "EXECUTE 'INSERT INTO t SELECT * FROM u'; EXECUTE 'SELECT 1' INTO v", language: 'plpgsql' },
])('no table by SELECT INTO: $body', ({ body, language }) => {
  expect(read(body, language)).toEqual([]);
});

test('the name of a table in a format that is kept in a variable', () => {
  expect(read("DECLARE q text := 'CREATE TABLE %I (a int)'; BEGIN EXECUTE format(q, t); END")).toMatchObject([
    { statements: ['CREATE TABLE'] },
  ]);
});

test.each([
  'CREATE TEMP TABLE a (b int); ALTER TABLE a ADD c int; DROP TABLE a',
  'CREATE LOCAL TEMPORARY TABLE a (b int); DROP TABLE pg_temp.a',
  'CREATE TABLE pg_temp.a (b int); DROP TABLE a',
  'CREATE UNLOGGED TABLE a (b int); DROP TABLE a',
  "EXECUTE format('CREATE TEMP TABLE %I (b int)', t); EXECUTE 'ALTER TABLE ' || t || ' ADD c int'; EXECUTE format('DROP TABLE %1$I', t)",
  "RAISE NOTICE 'create table first'; EXECUTE 'SELECT 1'",
  "IF tg_tag IN ('CREATE TABLE', 'DROP TABLE t') THEN EXECUTE 'SELECT 1'; END IF",
  "v := 'create table first'",
  "RETURN 'CREATE TABLE t (a int)'",
  '-- CREATE TABLE t\n/* DROP TABLE t */ SELECT 1',
  'CREATE INDEX i ON t (a); DROP INDEX i; REFRESH MATERIALIZED VIEW m; CREATE VIEW v AS SELECT 1',
  'GRANT CREATE ON SCHEMA s TO r; ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO r',
  'ALTER TABLE t DISABLE TRIGGER ALL; ALTER TABLE t ENABLE ALWAYS TRIGGER x; ALTER TABLE t OWNER TO r',
  "EXECUTE 'ALTER TABLE ' || t || ' DISABLE TRIGGER ALL'",
  'ALTER TABLE t SET (fillfactor = 70); ALTER TABLE t RESET (fillfactor)',
  'ALTER SEQUENCE s RESTART WITH 1; ALTER SCHEMA s OWNER TO r',
  "EXECUTE $q$CREATE FUNCTION g() RETURNS void LANGUAGE sql AS 'CREATE TABLE t ()'$q$",
])('nothing that lasts: %s', (body) => {
  expect(read(body)).toEqual([]);
});

test.each([
  "EXECUTE format('CREATE TABLE ev_%s PARTITION OF ev FOR VALUES FROM (%L) TO (%L)', m, d, e)",
  'ALTER TABLE ev ATTACH PARTITION ev_1 DEFAULT',
])('a partition: %s', (body) => {
  expect(read(body)).toMatchObject([{ partition: true }]);
});

test('the table of a trigger is kept', () => {
  const row = { signature: 'public.f()', body: 'CREATE TABLE t ()', relation: 'public.m' };
  expect(bodyDdlQuery.decode([row])).toMatchObject([{ triggerOf: 'public.m' }]);
});

test.each([
  "EXECUTE format('%s', ".repeat(50_000),
  `EXECUTE format('${'%1$s'.repeat(50_000)}', ${'a + '.repeat(50_000)}1)`,
  'THEN SELECT '.repeat(50_000),
])('a hostile body is read in linear time: %#', (body) => {
  expect(read(body, 'sql')).toEqual([]);
});
