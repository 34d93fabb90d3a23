import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import {
  addRandomFaults,
  type BatchSetup,
  creationFaults,
  type Ended,
  namesFile,
  runUntilComplete,
  seededRandom,
  setUpBatch,
  sizeAndImage,
} from './batch-setup.ts';
import { isFullRun, recordSchedule, scheduleSeeds } from './schedule-table.ts';

const many = isFullRun ? 1_000 : 200;
function namesOf(count: number): readonly string[] {
  return Array.from({ length: count }, (_, at) => `n-${at}`);
}

function expectExactlyOnce(ground: BatchSetup, names: readonly string[], { rows }: Ended): void {
  expect(ground.counts(names).filter((count) => count !== 1)).toEqual([]);
  // NDJSON rows are in the order in which they became known.
  expect(rows.map(({ name, status }) => `${name} ${status}`).toSorted()).toEqual(
    names.map((name) => `${name} created`).toSorted(),
  );
  expect(rows.filter(({ name, id }) => ground.ids(name)[0] !== id)).toEqual([]);
}

describe('every name of a batch exactly once', () => {
  it.each(creationFaults)('when the server does %j', async (fault) => {
    const names = namesOf(many);
    const ground = await setUpBatch();
    addRandomFaults(ground, [fault], { times: 5, among: many / 10, chance: seededRandom(7) });
    expectExactlyOnce(ground, names, await runUntilComplete(ground, [...namesFile(ground, names), ...sizeAndImage]));
  });

  it.each(scheduleSeeds)(
    'whatever the server does, killed and resumed, beside a process that renews the session (schedule %i)',
    async (seed) => {
      const chance = seededRandom(seed);
      const names = namesOf(1_000);
      const ground = await setUpBatch();
      addRandomFaults(ground, creationFaults, { times: 14, among: 100, chance });
      for (const action of ['status', 'reset', 'bad_json', 'rate_limit'] as const) {
        const nth = 2 + Math.floor(chance() * 30);
        ground.sandbox.faults.add({ match: { method: 'GET', path: '/v2/droplets' }, action, nth });
      }
      const over = new AbortController();
      const sibling = renewing(ground, over.signal);
      const kill = (run: number): number | undefined => (run <= 3 ? Math.floor(chance() * 900) : undefined);
      const ended = await runUntilComplete(ground, [...namesFile(ground, names), ...sizeAndImage], { kill });
      over.abort();
      await sibling;
      recordSchedule(ground, names, { schedule: 'all faults, session renewed', seed, runs: ended.runs });
      expectExactlyOnce(ground, names, ended);
      expect(ended.runs).toBeGreaterThan(1);
    },
  );
});

/** Each renewal makes the token of the batch worthless. */
async function renewing(ground: BatchSetup, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const { code, stderr } = await ground.run(['auth', 'refresh']);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    await sleep(300);
  }
}
