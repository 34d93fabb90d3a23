import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { addRandomFaults, creationFaults, ndjsonRows, seededRandom, setUpBatch, sizeAndImage } from './batch-setup.ts';

/** `npm run test:batch` makes more. */
const schedules = Number(process.env.CLOUDCTL_TEST_SCHEDULES ?? 2);
const names = Array.from({ length: 60 }, (_, at) => `n-${at + 1}`);

/** Without a ledger, a request may arrive up to 30 s after its client was killed, which is 300 ms here. */
const faults = creationFaults.map((fault) => (fault.action === 'delay' ? { ...fault, delay: 100 } : fault));

it.each(Array.from({ length: schedules }, (_, at) => at + 1))(
  'every name exactly once, whatever the server does, each run on another machine (schedule %i)',
  async (seed) => {
    const setup = await setUpBatch();
    const chance = seededRandom(seed);
    const token = (await setup.run(['auth', 'token'])).stdout.trim();
    addRandomFaults(setup, faults, { times: 8, among: 14, chance });
    const args = ['droplets', 'create', 'n-{1..60}', ...sizeAndImage, '--batch-id', `schedule-${seed}`];
    const maxRuns = 14;
    for (let run = 1; run <= maxRuns; run++) {
      const state = join(setup.work, `machine-${run}`);
      const env = {
        CLOUDCTL_STATE_DIR: state,
        CLOUDCTL_ACCESS_TOKEN: token,
        CLOUDCTL_BASE_URL: setup.sandbox.ready.base_url,
      };
      const running = setup.start([...args, '--batch-size', '4', '--timeout', '1s', '-o', 'ndjson'], { env });
      running.child.stdin?.end();
      if (run <= 4) {
        await running.waitFor('stderr', /^ledger: /m);
        await sleep(150 + chance() * 700);
        running.kill('SIGKILL');
      }
      const ran = await running.ended;
      rmSync(state, { recursive: true, force: true });
      if (ran.code !== 0) continue;
      const rows = ndjsonRows(ran.stdout);
      expect(rows.map(({ name, id }) => [name, id]).toSorted()).toEqual(
        names.map((name) => [name, setup.ids(name)[0]]).toSorted(),
      );
      expect(setup.counts(names)).toEqual(names.map(() => 1));
      return;
    }
    expect.unreachable(`not complete after ${maxRuns} runs`);
  },
);
