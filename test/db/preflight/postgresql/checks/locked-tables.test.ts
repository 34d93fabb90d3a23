import { expect, test } from 'vitest';
import { lockedTablesCheck } from '../../../../../src/db/preflight/postgresql/checks/locked-tables.ts';
import type { TableLock } from '../../../../../src/db/preflight/postgresql/queries/activity.ts';
import { ready, startPostgres } from '../../../../fixtures/postgres.ts';
import { preflightOptions, short, sourceFacts } from '../facts.ts';
import { found, preflightServer } from '../preflight.ts';

const lock = (more: Partial<TableLock> = {}): TableLock => ({
  table: 'public.t',
  pid: 42,
  gid: '',
  seconds: 10,
  ...more,
});

test.each([
  { what: 'nobody', locks: [], verdict: 'pass' },
  { what: 'a young transaction', locks: [lock()], verdict: 'warn' },
  { what: 'one of hidden age', locks: [lock({ seconds: undefined })], verdict: 'warn' },
  { what: 'an old one', locks: [lock(), lock({ seconds: 301 })], verdict: 'fail continuous+dump' },
  { what: 'a prepared one', locks: [lock({ pid: undefined, gid: 'x' })], verdict: 'fail continuous+dump' },
])('a table locked by $what: $verdict', ({ locks, verdict }) => {
  expect(short(lockedTablesCheck.evaluate({ locks }, 'd1', sourceFacts(), preflightOptions()))).toBe(verdict);
});

test('a prepared transaction that locks a table blocks its database, a table that it creates does not', async () => {
  const server = await startPostgres({ version: 15, settings: { ...ready, max_prepared_transactions: 5 } });
  await server.query('CREATE TABLE "The Table" (a int PRIMARY KEY)');
  await server.query("BEGIN; CREATE TABLE half (a int); PREPARE TRANSACTION 'making'");
  await server.query('CREATE DATABASE other');
  let asked = new Set<string>();
  const judged = async () => {
    asked = new Set();
    const onQuery = (database: string, text: string) =>
      void (text.includes('pg_prepared_xacts p') && asked.add(database));
    return found(await preflightServer(server, { onQuery }), 'locked-tables', 'postgres');
  };
  expect((await judged()).status).toBe('pass');
  await server.query(`BEGIN; LOCK TABLE "The Table" IN ACCESS EXCLUSIVE MODE; PREPARE TRANSACTION 'it''s held'`);
  const finding = await judged();
  // One look at all databases tells where another is worth its time.
  expect([...asked]).toEqual(['postgres']);
  expect(short(finding)).toBe('fail continuous+dump');
  expect(finding.objects?.[0]).toMatch(/public\."The Table" by .*\bit's held/);
  const [, cure] = / or (ROLLBACK PREPARED '(?:[^']|'')*')/.exec(finding.fix?.text ?? '') ?? [];
  await server.query(String(cure));
  expect((await judged()).status).toBe('pass');
});
