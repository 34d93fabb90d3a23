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

function expectExactlyOnce(setup: BatchSetup, names: readonly string[], { rows }: Ended): void {
  expect(setup.counts(names).filter((count) => count !== 1)).toEqual([]);
  // NDJSON rows are in the order in which they became known.
  expect(rows.map(({ name, status }) => `${name} ${status}`).toSorted()).toEqual(
    names.map((name) => `${name} created`).toSorted(),
  );
  expect(rows.filter(({ name, id }) => setup.ids(name)[0] !== id)).toEqual([]);
}

describe('every name of a batch exactly once', () => {
  it.each(creationFaults)('when the server does %j', async (fault) => {
    const names = namesOf(many);
    const setup = await setUpBatch();
    addRandomFaults(setup, [fault], { times: 5, among: many / 10, chance: seededRandom(7) });
    expectExactlyOnce(setup, names, await runUntilComplete(setup, [...namesFile(setup, names), ...sizeAndImage]));
  });

  it.each(scheduleSeeds)(
    'whatever the server does, killed and resumed, beside a process that renews the session (schedule %i)',
    async (seed) => {
      const chance = seededRandom(seed);
      const names = namesOf(1_000);
      const setup = await setUpBatch();
      addRandomFaults(setup, creationFaults, { times: 14, among: 100, chance });
      for (const action of ['status', 'reset', 'bad_json', 'rate_limit'] as const) {
        const nth = 2 + Math.floor(chance() * 30);
        setup.sandbox.faults.add({ match: { method: 'GET', path: '/v2/droplets' }, action, nth });
      }
      const over = new AbortController();
      const sibling = renewing(setup, over.signal);
      const kill = (run: number): number | undefined => (run <= 3 ? Math.floor(chance() * 900) : undefined);
      const ended = await runUntilComplete(setup, [...namesFile(setup, names), ...sizeAndImage], { kill });
      over.abort();
      await sibling;
      recordSchedule(setup, names, { schedule: 'all faults, session renewed', seed, runs: ended.runs });
      expectExactlyOnce(setup, names, ended);
      expect(ended.runs).toBeGreaterThan(1);
    },
  );
});

/** Each renewal makes the token of the batch worthless. */
async function renewing(setup: BatchSetup, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const { code, stderr } = await setup.run(['auth', 'refresh']);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    await sleep(300);
  }
}
