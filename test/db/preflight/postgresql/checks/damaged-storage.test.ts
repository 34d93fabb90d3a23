import { chownSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  damagedStorageCheck,
  type StorageDamage,
} from '../../../../../src/db/preflight/postgresql/checks/damaged-storage.ts';
import { damageFirstPage } from '../../../../fixtures/damage-page.ts';
import { type Postgres, ready, startPostgres } from '../../../../fixtures/postgres.ts';
import { expectOutcomeText } from '../expect-text.ts';
import { deepRun, preflightOptions, short, sourceFacts } from '../facts.ts';
import { found, preflightServer } from '../preflight.ts';

const both = 'fail continuous+dump';
const file = { relation: 'public.t', path: 'base/16384/16385', tablespace: undefined };

test.each([
  { what: 'nothing', damage: {}, verdict: 'pass' },
  { what: 'a missing file', damage: { missing: [file] }, verdict: both },
  { what: 'a missing tablespace', damage: { missing: [{ ...file, tablespace: 'fast' }] }, verdict: both },
  {
    what: 'damaged pages',
    damage: { checksumFailures: 2, lastFailure: '2026-11-22 08:00:00' },
    verdict: 'unknown',
  },
])('$what: $verdict', ({ damage, verdict }) => {
  const all: StorageDamage = { missing: [], checksumFailures: 0, lastFailure: '', ...damage };
  const outcome = damagedStorageCheck.evaluate({ damage: all }, 'd1', sourceFacts(), preflightOptions());
  expect(short(outcome)).toBe(verdict);
  if (verdict !== 'pass') expectOutcomeText(outcome);
});

const counted = { checksumFailures: 2, lastFailure: '2026-11-22 08:00:00' };
const damagedTable = { table: 'public.t', reason: 'damaged', message: 'invalid page in block 5' } as const;
const lockedTable = { table: 'public.u', reason: 'locked', message: '' } as const;

test.each([
  { what: 'every row was read', damage: {}, scan: {}, verdict: 'pass' },
  { what: 'a damaged table', damage: {}, scan: { unread: [damagedTable, lockedTable] }, verdict: both },
  { what: 'failures elsewhere', damage: counted, scan: {}, verdict: 'warn' },
  {
    what: 'failures, and a table that was not read',
    damage: counted,
    scan: { unread: [lockedTable] },
    verdict: 'unknown',
  },
  { what: 'failures, and no table was listed', damage: counted, scan: { failure: 'denied' }, verdict: 'unknown' },
])('with --deep, $what: $verdict', ({ damage, scan, verdict }) => {
  const all: StorageDamage = { missing: [], checksumFailures: 0, lastFailure: '', ...damage };
  const outcome = damagedStorageCheck.evaluate({ damage: all }, 'd1', ...deepRun(scan));
  expect(short(outcome)).toBe(verdict);
  expectOutcomeText(outcome);
});

describe.each([14, 18] as const)('on PostgreSQL %i', (version) => {
  const outcome = async (server: Postgres, username = 'postgres') =>
    found(
      await preflightServer({ ...server, username, ...(username === 'postgres' ? {} : { password: 'secret' }) }),
      'damaged-storage',
      'postgres',
    );

  test('a missing file is found, also by a role that cannot look at files', async () => {
    const server = await startPostgres({
      version,
      settings: ready,
      setup: [
        "CREATE ROLE bare LOGIN PASSWORD 'secret'",
        'CREATE TABLE empty (a int)',
        "CREATE TABLE t AS SELECT n AS a, repeat('x', 50) AS b FROM generate_series(1, 1000) n",
        'CREATE TABLE unread AS SELECT 1 AS a',
        'CREATE SEQUENCE s',
        'ANALYZE t',
        'CHECKPOINT',
      ],
    });
    expect((await outcome(server)).status).toBe('pass');
    expect((await outcome(server, 'bare')).status).toBe('pass');
    for (const name of ['t', 'unread']) {
      const [row] = await server.query(`SELECT pg_relation_filepath('${name}') AS path`);
      rmSync(join(server.data, String(row?.path)));
    }
    // Open files are still there for processes that opened them.
    await server.restart();
    const names = ({ objects = [] }: { readonly objects?: readonly string[] }) =>
      objects.map((one) => one.split(' ')[0]);
    expect(names(await outcome(server))).toEqual(['public.t', 'public.unread']);
    expect(names(await outcome(server, 'bare'))).toEqual(['public.t']);
  }, 60_000);

  test('a table of another access method may keep its rows elsewhere', async () => {
    const server = await startPostgres({ version, settings: ready });
    await server.query('CREATE ACCESS METHOD columns TYPE TABLE HANDLER heap_tableam_handler');
    await server.query('CREATE TABLE t (a int) USING columns');
    const [row] = await server.query("SELECT pg_relation_filepath('t') AS path");
    rmSync(join(server.data, String(row?.path)));
    expect((await outcome(server)).status).toBe('pass');
  }, 60_000);

  test('a tablespace without its directory is named', async () => {
    const server = await startPostgres({ version, settings: ready });
    const disk = join(server.folder, 'disk');
    mkdirSync(disk);
    if (process.getuid?.() === 0) chownSync(disk, 65_534, 65_534);
    await server.query(`CREATE TABLESPACE fast LOCATION '${disk}'`);
    await server.query('CREATE TABLE t (a int) TABLESPACE fast');
    renameSync(disk, `${disk} that is not mounted`);
    const lost = await outcome(server);
    expect(short(lost)).toBe(both);
    expect(lost.detail).toContain('tablespace fast');
  }, 60_000);
});

test('pages that failed their checksum are counted', async () => {
  // initdb enables checksums since 18.
  const server = await startPostgres({
    version: 18,
    settings: ready,
    setup: ['CREATE TABLE t AS SELECT 1 AS a', 'CHECKPOINT'],
  });
  await damageFirstPage(server, 't');
  const outcome = found(await preflightServer(server), 'damaged-storage', 'postgres');
  expect(outcome).toMatchObject({ status: 'unknown', observed: expect.stringMatching(/^1 checksum failure,/) });
}, 60_000);

test('a locked table does not delay the queries that measure files', async () => {
  const server = await startPostgres({
    version: 15,
    settings: { ...ready, max_prepared_transactions: 5 },
    setup: [
      "CREATE ROLE bare LOGIN PASSWORD 'secret'",
      'CREATE TABLE t (a int)',
      "BEGIN; LOCK TABLE t; PREPARE TRANSACTION 'held'",
    ],
  });
  for (const username of ['postgres', 'bare']) {
    const report = await preflightServer({
      ...server,
      username,
      ...(username === 'bare' ? { password: 'secret' } : {}),
    });
    expect(found(report, 'damaged-storage', 'postgres').status).toBe('pass');
    expect(found(report, 'replica-identity', 'postgres').status).toBe('warn');
  }
}, 60_000);
