import { describe, expect, test } from 'vitest';
import type { PostgresqlReport } from '../../../src/preflight/postgresql/run.ts';
import { type Postgres, ready, startPostgres } from '../../fixtures/postgres.ts';
import { preflightServer } from './preflight.ts';

/** What could not be asked, beside what only the person can tell. */
function unanswered(report: PostgresqlReport): readonly string[] {
  return report.findings
    .filter(({ status, id }) => status === 'unknown' && id !== 'version-not-newer')
    .map(({ id, observed }) => `${id}: ${observed}`);
}

describe.each([14, 15, 16, 17, 18] as const)('PostgreSQL %i', (version) => {
  const start = (): Promise<Postgres> =>
    startPostgres({
      version,
      settings: ready,
      setup: ['CREATE DATABASE d1', `CREATE ROLE bare LOGIN PASSWORD 'secret'`, 'CREATE TABLE t (id int PRIMARY KEY)'],
    });

  test('a superuser has an answer to every question; a bare role misses two, and is told what grants them', async () => {
    const server = await start();
    const report = await preflightServer(server);
    expect(unanswered(report)).toEqual([]);
    expect(report).toMatchObject({ verdict: 'continuous', proven: true });
    const bare = await preflightServer({ ...server, username: 'bare', password: 'secret' });
    expect(unanswered(bare)).toEqual([
      'restart-pending: pending: permission denied for view pg_file_settings',
      'hba-rule: host-rules: permission denied for view pg_hba_file_rules',
    ]);
    expect(bare.methods.continuous).toBe(false);
  }, 60_000);

  test('a standby answers too, and is no source for replication', async () => {
    const server = await start();
    server.write('standby.signal', '');
    await server.restart();
    const report = await preflightServer(server);
    expect(unanswered(report)).toEqual([]);
    expect(report.findings.find(({ id }) => id === 'standby-source')?.status).toBe('fail');
    expect(report.verdict).toBe('dump');
  }, 60_000);
});
