import { describe, expect, test } from 'vitest';
import type { PostgresqlReport } from '../../../../src/db/preflight/postgresql/run.ts';
import { expectGolden } from '../../../fixtures/golden.ts';
import { type Postgres, ready, startPostgres } from '../../../fixtures/postgres.ts';
import { preflightServer } from './preflight.ts';

/** Checks without a result, except the one that only the user can answer. */
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

  test('every query has a value for a superuser, and all but two for a role without privileges', async () => {
    const server = await start();
    const report = await preflightServer(server);
    expect(unanswered(report)).toEqual([]);
    expect(report).toMatchObject({ verdict: 'continuous', premises: [{ id: 'version-not-newer' }] });
    const bare = await preflightServer({ ...server, username: 'bare', password: 'secret' });
    const missing = unanswered(bare);
    expect(missing.map((line) => line.split(':')[0])).toEqual(['restart-pending', 'hba-rule']);
    expectGolden('db-preflight', missing.join('\n'));
    expect(bare.methods.continuous).toBe(false);
  }, 60_000);

  test('every query has a value on a standby, which cannot be a source of replication', async () => {
    const server = await start();
    server.write('standby.signal', '');
    await server.restart();
    const report = await preflightServer(server);
    expect(unanswered(report)).toEqual([]);
    expect(report.findings.find(({ id }) => id === 'standby-source')?.status).toBe('fail');
    expect(report.verdict).toBe('dump');
  }, 60_000);
});
