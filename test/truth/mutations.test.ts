import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type MutatedTable, mutatedTable } from './postgresql/mutations/mutated-table.ts';
import { type BatchResult, type MutationDisagreement, runBatch } from './postgresql/mutations/run-batch.ts';
import {
  makePgDumpFolder,
  openServers,
  type Surroundings,
  surroundingsOf,
} from './postgresql/mutations/surroundings.ts';

// A report lists the first objects of a finding; here it must name them all.
vi.mock('../../src/db/preflight/postgresql/check.ts', async (original) => ({
  ...(await original<object>()),
  limitObjects: <T>(things: readonly T[]) => things,
  unlistedNote: () => '',
}));
vi.setConfig({ testTimeout: 36_000_000, hookTimeout: 120_000 });

const seed = Number(process.env.CLOUDCTL_TEST_MUTATION_SEED ?? 1);
const count = Number(process.env.CLOUDCTL_TEST_MUTATIONS ?? 200);
/** Few databases take less time; two have other surroundings. */
const perDatabase = Math.min(250, Math.ceil(count / 2));

const servers = openServers();
const pgDump = makePgDumpFolder();
beforeAll(() => void vi.stubEnv('PATH', pgDump.path));
afterAll(async () => {
  vi.unstubAllEnvs();
  pgDump.remove();
  await servers.close();
});

test(`seed ${seed}: the verdicts on ${count} mutated tables are what the engines do`, async () => {
  const results: BatchResult[] = [];
  const seen = new Set<string>();
  for (let first = 0; first < count; first += perDatabase) {
    const numbers = Array.from({ length: Math.min(perDatabase, count - first) }, (_, at) => first + at);
    const surroundings = surroundingsOf(seed, first / perDatabase);
    const began = performance.now();
    const result = await runBatch(
      { ...(await servers.acquire(surroundings)), surroundings },
      numbers.map((number) => mutatedTable(seed, number)),
      seen,
    );
    results.push(result);
    const seconds = Math.round((performance.now() - began) / 1000);
    process.stderr.write(`${summary(result)} (${seconds} s): ${described(surroundings)}\n`);
    for (const one of result.disagreements) process.stderr.write(`${explained(one)}\n`);
  }
  expect(results.flatMap(({ disagreements }) => disagreements.map(explained)).join('\n')).toBe('');
  expect(results.reduce((sum, { created }) => sum + created, 0)).toBeGreaterThan(count / 3);
});

function described({ from, to, zones, plainTarget, settings, extensions }: Surroundings): string {
  const target = `${to}${plainTarget ? ' without a superuser' : ''}${zones === 'same' ? '' : `, ${zones} time zones`}`;
  const old = extensions.filter((one) => one.includes('VERSION'));
  return [`${from} -> ${target}`, ...settings, ...old].join('; ');
}

function summary({ created, promised, blocked, unproven, disagreements }: BatchResult): string {
  return `${created} tables: ${promised} continuous, ${blocked} blocked, ${unproven} not proven, ${disagreements.length} disagreements`;
}

function explained({ table, verdict, happened }: MutationDisagreement): string {
  return [
    `seed ${table.seed}, table ${table.name} (${table.kinds.join(', ')}): ${verdict}; ${happened}`,
    ...sqlOf(table),
  ].join('\n');
}

function sqlOf({ statements, app }: MutatedTable): readonly string[] {
  return [...statements, ...app].map((statement) => `  ${statement};`);
}
