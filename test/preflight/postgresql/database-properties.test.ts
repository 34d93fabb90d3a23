import { expect, test } from 'vitest';
import { collationCheck } from '../../../src/preflight/postgresql/checks/collation.ts';
import { dbNamesCheck } from '../../../src/preflight/postgresql/checks/db-names.ts';
import { encodingCheck } from '../../../src/preflight/postgresql/checks/encoding.ts';
import { databaseOverviewQuery } from '../../../src/preflight/postgresql/queries/database-overview.ts';
import { ready, startPostgres } from '../../fixtures/postgres.ts';
import { database, preflightOptions, short, sourceFacts } from './facts.ts';
import { found, preflightServer } from './preflight.ts';

test.each([
  { name: 'd1', is: 'UTF8', tables: 1, verdict: 'pass' },
  { name: 'd1', is: 'LATIN1', tables: 1, verdict: 'pass' },
  { name: 'd1', is: 'SQL_ASCII', tables: 1, verdict: 'warn' },
  { name: 'postgres', is: 'SQL_ASCII', tables: 1, verdict: 'fail continuous+dump' },
  { name: 'defaultdb', is: 'SQL_ASCII', tables: 1, verdict: 'fail continuous+dump' },
  { name: 'postgres', is: 'SQL_ASCII', tables: 0, verdict: 'warn' },
])('$name in $is with $tables tables: $verdict', ({ name, is, tables, verdict }) => {
  const facts = {
    databases: [database(name, { encoding: is })],
    overview: { ...databaseOverviewQuery.absent, tables },
    rawTexts: [],
  };
  expect(short(encodingCheck.evaluate(facts, name, sourceFacts(), preflightOptions()))).toBe(verdict);
});

test.each([
  { what: 'C', is: {}, verdict: 'pass' },
  { what: 'a usual locale', is: { collate: 'de_DE.UTF-8', ctype: 'de_DE.UTF-8' }, verdict: 'pass' },
  { what: 'as glibc writes it', is: { collate: 'en_US.utf8', ctype: 'C.UTF-8' }, verdict: 'pass' },
  { what: 'Windows', is: { collate: 'English_United States.1252' }, verdict: 'warn' },
  { what: 'ICU', is: { provider: 'i', locale: 'de-x-icu', collate: 'odd' }, verdict: 'pass' },
  { what: 'the same version', is: { collationVersion: '2.36', libraryVersion: '2.36' }, verdict: 'pass' },
  { what: 'another version', is: { collationVersion: '2.28', libraryVersion: '2.36' }, verdict: 'warn' },
])('collation, $what: $verdict', ({ is, verdict }) => {
  const facts = { databases: [database('d1', is)], collations: [], markedFunctions: [] };
  expect(short(collationCheck.evaluate(facts, 'd1', sourceFacts(), preflightOptions()))).toBe(verdict);
});

test('a collation somebody made by libc is named, and one that fell behind is refreshed', () => {
  const own = { name: 'public."German"', provider: 'c', version: undefined, libraryVersion: undefined };
  const facts = { databases: [database('d1')], collations: [own], markedFunctions: [] };
  expect(collationCheck.evaluate(facts, 'd1', sourceFacts(), preflightOptions())).toMatchObject({
    status: 'warn',
    objects: [own.name],
  });
  const stale = { ...facts, collations: [{ ...own, version: '1', libraryVersion: '2' }] };
  expect(collationCheck.evaluate(stale, 'd1', sourceFacts(), preflightOptions()).fix?.sql).toEqual([
    'ALTER COLLATION public."German" REFRESH VERSION',
  ]);
});

test.each([
  { name: 'd1', is: {}, verdict: 'pass' },
  { name: 'My-DB', is: { plain: false }, verdict: 'warn' },
  { name: 'a'.repeat(41), is: {}, verdict: 'pass' },
  { name: 'a'.repeat(42), is: {}, verdict: 'warn' },
])('a database called $name: $verdict', ({ name, is, verdict }) => {
  expect(
    short(dbNamesCheck.evaluate({ databases: [database(name, is)] }, name, sourceFacts(), preflightOptions())),
  ).toBe(verdict);
});

test('locales that functions bring and a target may lack are named, and those of every server are not', async () => {
  const server = await startPostgres({ version: 15, settings: ready });
  await server.query(
    `CREATE FUNCTION fine() RETURNS int LANGUAGE sql SET lc_time = 'C' SET timezone_abbreviations = 'Default' SET jit = off AS 'SELECT 1'`,
  );
  expect(found(await preflightServer(server), 'collation', 'postgres').status).toBe('pass');
  await server.query(`CREATE FUNCTION "The F"() RETURNS int LANGUAGE sql AS 'SELECT 1'`);
  // As on a server that has the locale, which this machine need not.
  await server.query(`UPDATE pg_proc SET proconfig = '{jit=off,lc_time=de_DE.UTF-8}' WHERE proname = 'The F'`);
  const report = await preflightServer(server);
  expect(found(report, 'collation', 'postgres')).toMatchObject({
    status: 'unknown',
    objects: ['public."The F"() (lc_time=de_DE.UTF-8)'],
  });
  for (const id of ['secdef', 'untrusted-lang']) expect(found(report, id, 'postgres').status).toBe('pass');
});
