import { rmSync } from 'node:fs';
import { join } from 'node:path';
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
];

/** Kills one process of the server, which then ends all others and recovers. */
async function crash(server: Postgres): Promise<void> {
  await server.query("COPY (SELECT 1) TO PROGRAM 'kill -9 $PPID'").catch(() => {});
  const answers = () =>
    server.query('SELECT 1').then(
      () => true,
      () => false,
    );
  await eventually(answers, 'the recovery');
}
