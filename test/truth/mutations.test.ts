import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startTarget } from '../db/engine/servers.ts';
import { type Postgres, ready, startPostgres } from '../fixtures/postgres.ts';
import { type MutatedTable, mutatedTable } from './postgresql/mutations/mutated-table.ts';
import { type BatchResult, type MutationDisagreement, runBatch } from './postgresql/mutations/run-batch.ts';

// A report lists the first objects of a finding; here it must name them all.
vi.mock('../../src/db/preflight/postgresql/check.ts', () => ({
  limitFindingObjects: <T>(things: readonly T[]) => things,
  buildUnlistedObjectsNote: () => '',
}));
vi.setConfig({ testTimeout: 36_000_000, hookTimeout: 120_000 });

const seed = Number(process.env.CLOUDCTL_TEST_MUTATION_SEED ?? 1);
const count = Number(process.env.CLOUDCTL_TEST_MUTATIONS ?? 200);
const perDatabase = 200;

let source: Postgres;
let target: Postgres;
beforeAll(async () => {
  [source, target] = await Promise.all([
    startPostgres({
      version: 15,
      direct: true,
      settings: { ...ready, max_wal_senders: 40, max_replication_slots: 40 },
    }),
    startTarget({ version: 17, direct: true, settings: { max_sync_workers_per_subscription: 8 } }),
  ]);
});
afterAll(() => Promise.all([source.stop(), target.stop()]));

test(`seed ${seed}: the verdicts on ${count} mutated tables are what both engines do`, async () => {
  const results: BatchResult[] = [];
  for (let first = 0; first < count; first += perDatabase) {
    const numbers = Array.from({ length: Math.min(perDatabase, count - first) }, (_, at) => first + at);
    const tables = numbers.map((number) => mutatedTable(seed, number));
    const began = performance.now();
    const result = await runBatch({ source, target, targetVersion: 17 }, tables);
    results.push(result);
    process.stderr.write(`${summary(result)} (${Math.round((performance.now() - began) / 1000)} s)\n`);
    for (const one of result.disagreements) process.stderr.write(`${described(one)}\n`);
  }
  expect(results.flatMap(({ disagreements }) => disagreements.map(described)).join('\n')).toBe('');
  expect(results.reduce((sum, { created }) => sum + created, 0)).toBeGreaterThan(count / 3);
});

function summary({ created, promised, blocked, unproven, disagreements }: BatchResult): string {
  return `${created} tables: ${promised} continuous, ${blocked} blocked, ${unproven} not proven, ${disagreements.length} disagreements`;
}

function described({ table, verdict, happened }: MutationDisagreement): string {
  return [
    `seed ${table.seed}, table ${table.name} (${table.kinds.join(', ')}): ${verdict}; ${happened}`,
    ...sqlOf(table),
  ].join('\n');
}

function sqlOf({ statements, app }: MutatedTable): readonly string[] {
  return [...statements, ...app].map((statement) => `  ${statement};`);
}
