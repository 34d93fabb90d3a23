import { expect, test } from 'vitest';
import {
  danglingReferencesQuery,
  lostCatalogRowsCheck,
  maxDanglingDatabases,
} from '../../../../../src/db/preflight/postgresql/checks/lost-rows.ts';
import { databasesQuery } from '../../../../../src/db/preflight/postgresql/queries/cluster.ts';
import { ready, startPostgres } from '../../../../fixtures/postgres.ts';
import { preflightOptions, short, sourceFacts } from '../facts.ts';
import { found, preflightServer } from '../preflight.ts';

test('with too many databases the result is that they were not checked', () => {
  const asked = (count: number) =>
    danglingReferencesQuery.when?.(
      (ask) => (ask.id === databasesQuery.id ? ask.decode(Array.from({ length: count }, () => ({}))) : undefined),
      'd',
    );
  expect([asked(maxDanglingDatabases), asked(maxDanglingDatabases + 1)]).toEqual([true, false]);
  const told = lostCatalogRowsCheck.evaluate(
    { lostRows: danglingReferencesQuery.absent },
    'd',
    sourceFacts(),
    preflightOptions(),
  );
  expect(told).toMatchObject({ status: 'info', observed: expect.stringContaining('50') });
});

test('missing catalog rows are reported by their dependents and block only their database', async () => {
  const server = await startPostgres({ version: 16, settings: ready });
  const judged = async (name: string) => found(await preflightServer(server), 'lost-rows', name);
  await server.query('CREATE DATABASE d1');
  const statements = [
    'CREATE ROLE owner',
    'CREATE SCHEMA gone',
    'CREATE TABLE gone.t (a int PRIMARY KEY)',
    "CREATE TYPE mood AS ENUM ('a')",
    'CREATE TABLE typed (a int PRIMARY KEY, b mood, c int CHECK (c > 0))',
    'CREATE TABLE short (a int PRIMARY KEY, b int)',
    'CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$',
    'CREATE TRIGGER fires BEFORE INSERT ON typed FOR EACH ROW EXECUTE FUNCTION f()',
    'CREATE FUNCTION owned() RETURNS int LANGUAGE sql AS $$ SELECT 1 $$',
    'ALTER FUNCTION owned() OWNER TO owner',
    'CREATE VIEW empty AS SELECT 1 AS a',
  ];
  for (const statement of statements) await server.query(statement, 'd1');
  expect(await judged('d1')).toMatchObject({ status: 'pass' });
  const losses = [
    "DELETE FROM pg_namespace WHERE nspname = 'gone'",
    "DELETE FROM pg_type WHERE typname = 'mood'",
    "DELETE FROM pg_constraint WHERE contype = 'c' AND conname = 'typed_c_check'",
    "DELETE FROM pg_attribute WHERE attrelid = 'short'::regclass AND attname = 'b'",
    "DELETE FROM pg_proc WHERE proname = 'f'",
    "DELETE FROM pg_authid WHERE rolname = 'owner'",
    "DELETE FROM pg_rewrite WHERE ev_class = 'empty'::regclass",
  ];
  for (const statement of losses) await server.query(statement, 'd1');
  const finding = await judged('d1');
  expect(short(finding)).toBe('fail continuous+dump');
  const told = finding.objects?.join('\n') ?? '';
  for (const lacks of [
    /^t without its schema \d+$/m,
    /^typed\.b without its type \d+$/m,
    /^typed without its check$/m,
    /^short without its columns$/m,
    /^fires without its function \d+$/m,
    /^owned without its role \d+$/m,
    /^empty without its rule$/m,
  ]) {
    expect(told).toMatch(lacks);
  }
  expect((await judged('postgres')).status).toBe('pass');
});
