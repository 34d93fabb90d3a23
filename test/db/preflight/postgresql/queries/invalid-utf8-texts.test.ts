import { expect, test } from 'vitest';
import { ready, startPostgres } from '../../../../fixtures/postgres.ts';
import { found, preflightServer } from '../preflight.ts';

/** 0xe9 is an é in LATIN1. */
const raw = (statement: string) => `DO $do$BEGIN EXECUTE E'${statement.replaceAll("'", "''")}'; END$do$`;

const cases = {
  label: "CREATE TYPE mood AS ENUM ('caf\\xe9')",
  comment: "COMMENT ON SCHEMA public IS 'caf\\xe9'",
  default: "CREATE TABLE t (id int PRIMARY KEY, t text DEFAULT 'caf\\xe9')",
  constraint: "CREATE TABLE t (id int PRIMARY KEY, t text CHECK (t <> 'caf\\xe9'))",
  name: 'CREATE TABLE t (id int PRIMARY KEY, "caf\\xe9" text)',
  function: "CREATE FUNCTION f() RETURNS text LANGUAGE sql AS 'SELECT 1 -- caf\\xe9'",
};

test('in SQL_ASCII a schema that is no UTF-8 blocks, and one in UTF-8 does not', async () => {
  const server = await startPostgres({ version: 16, settings: ready });
  const make = async (name: string, statement: string) => {
    await server.query(`CREATE DATABASE ${name}_d ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0`);
    await server.query(statement, `${name}_d`);
  };
  for (const [name, statement] of Object.entries(cases)) await make(name, raw(statement));
  await make('fine', 'CREATE TABLE "café" (id int PRIMARY KEY, t text DEFAULT \'日本\')');
  const report = await preflightServer(server);
  const seen = (name: string) => found(report, 'encoding', `${name}_d`);
  expect(Object.keys(cases).map((name) => [name, seen(name).status, seen(name).objects?.[0]?.split(':')[0]])).toEqual(
    Object.keys(cases).map((name) => [name, 'fail', name]),
  );
  expect(seen('fine').status).toBe('warn');
});
