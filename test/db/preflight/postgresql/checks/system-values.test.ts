import { expect, test } from 'vitest';
import { systemValuesCheck } from '../../../../../src/db/preflight/postgresql/checks/system-values.ts';
import { ready, startPostgres } from '../../../../fixtures/postgres.ts';
import { expectOutcomeText } from '../expect-text.ts';
import { preflightOptions, role, short, sourceFacts } from '../facts.ts';
import { found, preflightServer } from '../preflight.ts';

const value = (type: string, rows: 'fit' | 'unseen' | 'violate') => ({
  ...{ table: 'public.t', column: 'v', type, path: '', numericRoles: [], rows },
});

test.each([
  { values: [], verdict: 'pass' },
  { values: [value('regclass', 'fit')], verdict: 'pass' },
  { values: [value('regclass', 'fit'), value('aclitem[]', 'unseen')], verdict: 'unknown' },
  { values: [value('aclitem[]', 'unseen'), value('pg_node_tree', 'violate')], verdict: 'fail continuous+dump' },
])('columns $values: $verdict', ({ values, verdict }) => {
  const facts = { systemValues: values, malformedValues: [], transactionIds: [], role: role() };
  expect(short(systemValuesCheck.evaluate(facts, 'd1', sourceFacts(), preflightOptions()))).toBe(verdict);
});

test.each([
  { type: 'xml', rows: 'violate', verdict: 'fail continuous+dump' },
  { type: 'xml', rows: 'unseen', verdict: 'unknown' },
  { type: 'tsvector', rows: 'unseen', verdict: 'pass' },
  { type: 'circle', rows: 'fit', verdict: 'pass' },
] as const)('values that $type may refuse, $rows: $verdict', ({ type, rows, verdict }) => {
  const column = { table: 'public.t', column: 'v', rawColumn: 'v', type, path: '', isCertain: true, rows };
  const facts = { systemValues: [], malformedValues: [column], transactionIds: [], role: role() };
  const outcome = systemValuesCheck.evaluate(facts, 'd1', sourceFacts(), preflightOptions());
  expect(short(outcome)).toBe(verdict);
  expectOutcomeText(outcome);
});

test('transaction ids are a warning', () => {
  const facts = { systemValues: [], malformedValues: [], transactionIds: ['tx of public.outbox (xid8)'], role: role() };
  const outcome = systemValuesCheck.evaluate(facts, 'd1', sourceFacts(), preflightOptions());
  expect(short(outcome)).toBe('warn');
  expectOutcomeText(outcome);
});

test('lc_monetary of the role fixes money columns without a rewrite', () => {
  const facts = { systemValues: [value('money', 'violate')], malformedValues: [], transactionIds: [], role: role() };
  expect(systemValuesCheck.evaluate(facts, 'd1', sourceFacts(), preflightOptions())).toMatchObject({
    status: 'fail',
    fix: {
      sql: ['ALTER ROLE "migrator" IN DATABASE "d1" SET lc_monetary = \'C\''],
      undo: ['ALTER ROLE "migrator" IN DATABASE "d1" RESET lc_monetary'],
    },
  });
});

test('values that no other server reads are found on a real one, and their like that it reads are not', async () => {
  const server = await startPostgres({ version: 15, settings: ready });
  for (const statement of [
    'CREATE ROLE ghost',
    'CREATE DOMAIN tree AS pg_node_tree',
    'CREATE TABLE seen (id int PRIMARY KEY DEFAULT 5)',
    'GRANT SELECT ON seen TO ghost',
    `CREATE TABLE "The Copy" AS SELECT c.oid, relacl AS "the acl", relacl[2] AS one, adbin, adbin::tree AS "domain",
       reltoastrelid::regclass AS toast, c.oid::regclass AS fine, '{=r/postgres}'::aclitem[] AS public, 5::money AS m,
       NULL::pg_node_tree AS nothing FROM pg_class c LEFT JOIN pg_attrdef d ON adrelid = c.oid WHERE c.oid = 'seen'::regclass`,
    'CREATE TABLE big (id int, t text)',
    `INSERT INTO "The Copy" (toast) SELECT reltoastrelid FROM pg_class WHERE relname = 'big'`,
    'DROP OWNED BY ghost',
    'DROP ROLE ghost',
  ]) {
    await server.query(statement);
  }
  const { objects } = found(await preflightServer(server), 'system-values', 'postgres');
  expect(objects?.map((one) => one.split(' of ')[0])).toEqual(['"the acl"', 'adbin', 'domain', 'one', 'toast']);
});

test('they are found in composites and arrays of them', async () => {
  const server = await startPostgres({ version: 15, settings: ready });
  for (const statement of [
    'CREATE TYPE place AS (x int, c regclass, acl aclitem, acls aclitem[])',
    'CREATE TABLE t (id int PRIMARY KEY, x place, it place[], fine place, w text)',
    `INSERT INTO t SELECT 1, ROW(1, reltoastrelid::regclass, NULL, '{}')::place, ARRAY[ROW(1, reltoastrelid::regclass, NULL, '{}')::place], ROW(1, 't', '=r/postgres', '{=r/postgres}')::place FROM pg_class WHERE relname = 't'`,
  ]) {
    await server.query(statement);
  }
  const { objects } = found(await preflightServer(server), 'system-values', 'postgres');
  expect(objects).toEqual(['it of public.t (regclass)', 'x of public.t (regclass)']);
});

test('they are found in ranges and in rows of system catalogs', async () => {
  const server = await startPostgres({ version: 15, settings: ready });
  for (const statement of [
    'CREATE TYPE span AS RANGE (SUBTYPE = regclass, SUBTYPE_OPCLASS = oid_ops, MULTIRANGE_TYPE_NAME = spans)',
    'CREATE TABLE big (id int PRIMARY KEY, t text)',
    'CREATE TABLE t (id int PRIMARY KEY, x span, xs spans, it span[], fine span, whole pg_attrdef)',
    `INSERT INTO t SELECT 1, s, spans(s), ARRAY[s], span('big', 'big', '[]') FROM (SELECT span(NULL, reltoastrelid::regclass) AS s FROM pg_class WHERE relname = 'big') y`,
    'CREATE TABLE u (id int PRIMARY KEY DEFAULT 5, a int)',
    'UPDATE t SET whole = (SELECT d FROM pg_attrdef d)',
  ]) {
    await server.query(statement);
  }
  const { objects } = found(await preflightServer(server), 'system-values', 'postgres');
  expect(objects).toEqual([
    'it of public.t (regclass)',
    'whole of public.t (pg_node_tree)',
    'x of public.t (regclass)',
    'xs of public.t (regclass)',
  ]);
});
