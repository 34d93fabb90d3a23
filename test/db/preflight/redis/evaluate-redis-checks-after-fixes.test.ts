import { expect, test } from 'vitest';
import type { CheckFinding } from '../../../../src/db/preflight/finding.ts';
import { redisChecks } from '../../../../src/db/preflight/redis/checks.ts';
import { simulateFixes } from '../../../../src/db/preflight/run.ts';
import { filled, writing } from './check-cases.ts';
import { effectsEvaluator, evaluateRecorded, type Recorded } from './recorded.ts';
import { healthy } from './recordings.ts';

async function simulate(server: Recorded, changes: Parameters<typeof evaluateRecorded>[1] = {}) {
  const before = [...(await evaluateRecorded(server, changes, redisChecks)).values()];
  const evaluate = await effectsEvaluator(server, changes);
  const { findings } = simulateFixes(before, 'continuous', evaluate);
  const offered = before.flatMap(({ fix }, at) => (findings[at]?.fix?.simulated === true ? (fix?.effects ?? []) : []));
  const { changed } = evaluate(offered.map((effect) => ({ effect, database: undefined })));
  return { findings, after: before.map((finding) => changed.get(finding.id) ?? finding) };
}

const byId = (findings: readonly CheckFinding[] | undefined, id: string) => findings?.find((one) => one.id === id);

test('a larger backlog without the memory for it makes source-memory worse: a full cache would evict its keys', async () => {
  const changes = { facts: writing(1e6) };
  const evaluate = await effectsEvaluator(filled('allkeys-lru'), changes);
  const effect = { kind: 'setting', name: 'repl-backlog-size', value: '268435456' } as const;
  expect((await evaluateRecorded(filled('allkeys-lru'), changes)).get('source-memory')?.status).toBe('pass');
  expect(evaluate([{ effect, database: undefined }]).changed.get('source-memory')?.status).toBe('warn');
  const { after } = await simulate(filled('allkeys-lru'), changes);
  expect(byId(after, 'source-memory')?.status).toBe('pass');
});

test('the findings after the fixes have the backlog and the memory that both fixes set', async () => {
  const { after } = await simulate(healthy(), { facts: writing(1e6) });
  expect(byId(after, 'repl-backlog')?.status).toBe('pass');
  expect(byId(after, 'source-memory')?.status).toBe('pass');
});

test('a copy without the disk is not offered where SYNC alone would then lose the stream', async () => {
  const server = healthy({
    info: { rdb_last_bgsave_status: 'err' },
    config: { 'repl-diskless-sync': 'no' },
    more: { lacks: ['psync'] },
  });
  const { findings } = await simulate(server);
  expect(byId(findings, 'psync-command')?.status).toBe('warn');
  expect(byId(findings, 'bgsave-broken')?.fix).toMatchObject({ worsens: ['psync-command'] });
});
