import { execFile } from 'node:child_process';
import { chownSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { damageFirstPage } from '../../../fixtures/damage-page.ts';
import type { Postgres } from '../../../fixtures/postgres.ts';
import { eventually } from '../../../fixtures/redis.ts';
import type { PostgresCase } from '../case.ts';

/** What happened to a server before the migration. */
export const serverHistoryCases: readonly PostgresCase[] = [
  {
    name: 'counters: reset before the preflight, a table without a key is written to',
    verdict: 'dump',
    reasons: ['replica-identity'],
    quick: true,
    setup: ['CREATE TABLE keyless (a int)', 'INSERT INTO keyless VALUES (1), (2)', 'UPDATE keyless SET a = a + 1'],
    last: [{ in: 'd1', sql: 'SELECT pg_stat_reset()' }],
  },
  {
    name: 'counters: lost by a crash, a table without a key is written to',
    verdict: 'dump',
    reasons: ['replica-identity'],
    setup: ['CREATE TABLE keyless (a int)', 'INSERT INTO keyless VALUES (1), (2)', 'UPDATE keyless SET a = a + 1'],
    before: async (source) => {
      await crash(source);
      return {};
    },
  },
  {
    name: 'counters: kept by a restart, a table without a key is not written to',
    verdict: 'continuous',
    setup: ['CREATE TABLE keyless (a int)', 'INSERT INTO keyless VALUES (1), (2)'],
    quiet: ['keyless'],
    last: ['restart'],
  },
  {
    name: 'storage: the file of a table is missing',
    verdict: 'blocked',
    reasons: ['damaged-storage'],
    setup: ['CREATE TABLE gone (a int PRIMARY KEY)', 'INSERT INTO gone VALUES (1), (2)'],
    last: ['CHECKPOINT'],
    before: async (source) => {
      const [row] = await source.query("SELECT pg_relation_filepath('gone') AS path", 'd1');
      rmSync(join(source.data, String(row?.path)));
      await source.restart();
      return {};
    },
  },
  {
    name: 'storage: a damaged page that was counted',
    verdict: 'continuous',
    unproven: ['damaged-storage'],
    differs: {
      truth: 'blocked',
      why: 'the server counts damaged pages without naming their relation, and the rows were not read; the report says so, with the command that reads them',
    },
    from: 18,
    to: 18,
    setup: ['CREATE TABLE damaged (a int PRIMARY KEY)', 'INSERT INTO damaged VALUES (1), (2)'],
    quiet: ['damaged'],
    before: async (source) => {
      await damageFirstPage(source, 'damaged', 'd1');
      return {};
    },
  },
  {
    name: 'storage: the server does not find pgoutput',
    verdict: 'dump',
    reasons: ['output-plugin'],
    settings: { dynamic_library_path: '/opt/lib' },
  },
  {
    name: 'storage: a row that is longer than 1 GB as text',
    verdict: 'continuous',
    unproven: ['large-values'],
    differs: {
      truth: 'blocked',
      why: 'the length of a row is known only by reading it; the report names the tables that can hold such a row, with the query that the owner can run',
    },
    setup: [
      'CREATE TABLE files (id int PRIMARY KEY, data bytea)',
      'ALTER TABLE files ALTER data SET STORAGE EXTERNAL',
      "INSERT INTO files VALUES (1, convert_to(repeat('x', 540000000), 'UTF8'))",
    ],
    quiet: ['files'],
  },
  {
    name: 'wraparound: the server assigns no more transaction ids',
    verdict: 'dump',
    reasons: ['xid-wraparound'],
    before: async (source) => {
      // Without it the server freezes the ids by itself as soon as it starts.
      await source.query("SELECT pg_create_logical_replication_slot('forgotten', 'pgoutput')", 'd1');
      await useTransactionIds(source, 2 ** 31 - 1_000_000);
      return {};
    },
  },
];

/** Kills one process of the server, which then ends all others and recovers. */
async function crash(server: Postgres): Promise<void> {
  const before = server.log().length;
  await server.query("COPY (SELECT 1) TO PROGRAM 'kill -9 $PPID'").catch(() => {});
  // Until the server notices the crash, it still takes connections.
  await eventually(() => server.log().slice(before).includes('reinitializing'), 'the crash in the log');
  const answers = () =>
    server.query('SELECT 1').then(
      () => true,
      () => false,
    );
  await eventually(answers, 'the recovery');
}

/** Sets the next transaction id. */
async function useTransactionIds(server: Postgres, next: number): Promise<void> {
  // The status of the transactions in the segment of the new id, 4 to a byte.
  const segment = Math.floor(next / 2 ** 20)
    .toString(16)
    .toUpperCase()
    .padStart(4, '0');
  await resetControlData(server, ['-x', String(next)], () => {
    const path = join(server.data, 'pg_xact', segment);
    writeFileSync(path, Buffer.alloc(2 ** 18), { mode: 0o600 });
    if (process.getuid?.() === 0) chownSync(path, 65_534, 65_534);
  });
}

/** Runs pg_resetwal on a server of version 15, whose tools Debian has. */
export async function resetControlData(server: Postgres, words: readonly string[], prepare = () => {}): Promise<void> {
  const ended = () => {
    try {
      process.kill(pid, 0);
      return false;
    } catch {
      return true;
    }
  };
  const pid = server.pid();
  process.kill(pid, 'SIGINT');
  await eventually(ended, 'the end of the server');
  prepare();
  const command = ['/usr/lib/postgresql/15/bin/pg_resetwal', '-f', ...words, server.data];
  const isRoot = process.getuid?.() === 0;
  const [program = '', ...rest] = isRoot
    ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', ...command]
    : command;
  await promisify(execFile)(program, rest);
  await server.restart();
}
