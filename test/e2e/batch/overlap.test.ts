import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Ran } from '../../fixtures/cli.ts';
import type { Environment } from '../../fixtures/folders.ts';
import { anotherMachine, type BatchSetup, ndjsonRows, seededRandom, setUpBatch, sizeAndImage } from './batch-setup.ts';
import { isFullRun, recordSchedule, scheduleSeeds } from './schedule-table.ts';

const names = Array.from({ length: isFullRun ? 60 : 30 }, (_, at) => `n-${at}`);
const create = ['droplets', 'create', ...names, ...sizeAndImage, '-o', 'ndjson'];

/** A server that responds late and whose lists lag. */
async function slowServer(acceleration: number, delay: number, lag: number): Promise<BatchSetup> {
  const setup = await setUpBatch({ acceleration });
  const creation = { method: 'POST', path: '/v2/droplets' };
  setup.sandbox.faults.add({ match: creation, action: 'delay', delay, times: 1_000_000 });
  if (lag > 0)
    setup.sandbox.faults.add({
      match: { method: 'GET', path: '/v2/droplets' },
      action: 'lag_lists',
      delay: lag,
      times: 1_000_000,
    });
  return setup;
}

interface Started {
  readonly ended: Promise<Ran>;
  kill(): void;
}

function start(setup: BatchSetup, words: readonly string[], env: Environment = {}): Started {
  const running = setup.start(words, { env });
  running.child.stdin?.end();
  return { ended: running.ended, kill: () => running.kill('SIGKILL') };
}

it('a second run with --if-exists skip waits for the first, and knows its droplets although lists lag', async () => {
  const setup = await slowServer(20, 400, 5_000);
  const first = start(setup, create);
  await sleep(700);
  const second = await start(setup, [...create, '--if-exists', 'skip']).ended;
  expect([second.code, (await first.ended).code]).toEqual([0, 0]);
  expect(ndjsonRows(second.stdout).map(({ status }) => status)).toEqual(names.map(() => 'skipped'));
  expect(setup.counts(names)).toEqual(names.map(() => 1));
});

it.each([[names.slice(0, 5)], [['alone']]])('of two runs that are started together one is busy: %j', async (some) => {
  const setup = await slowServer(20, 400, 0);
  const words = ['droplets', 'create', ...some, ...sizeAndImage, '-o', 'json'];
  const ran = await Promise.all([start(setup, words).ended, start(setup, words).ended]);
  expect(ran.map(({ code }) => code).toSorted()).toEqual([0, 1]);
  const busy = ran.find(({ code }) => code === 1)?.stderr ?? '';
  expect(JSON.parse(busy)).toMatchObject({ error: { code: 'busy' } });
  expect(setup.counts(some)).toEqual(some.map(() => 1));
});

it('of two runs with one ledger that are started together one runs, and the other is busy or finds it complete', async () => {
  const setup = await slowServer(20, 200, 0);
  for (let pair = 0; pair < (isFullRun ? 10 : 3); pair++) {
    const some = [`p${pair}-a`, `p${pair}-b`];
    const words = [
      'droplets',
      'create',
      ...some,
      ...sizeAndImage,
      '--ledger',
      join(setup.work, `${pair}.jsonl`),
      '-o',
      'json',
    ];
    const ran = await Promise.all([start(setup, words).ended, start(setup, words).ended]);
    const codes = ran.map(({ code }) => code).toSorted();
    expect(
      [
        [0, 0],
        [0, 1],
      ],
      ran.map(({ stderr }) => stderr).join(''),
    ).toContainEqual(codes);
    for (const { code, stderr } of ran)
      if (code === 1) expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'busy' } });
    expect(setup.counts(some)).toEqual([1, 1]);
  }
});

it('runs with --if-exists create stay parallel', async () => {
  const setup = await slowServer(20, 400, 0);
  const words = ['droplets', 'create', 'a', ...sizeAndImage, '--if-exists', 'create'];
  const ran = await Promise.all([start(setup, words).ended, start(setup, words).ended]);
  expect(ran.map(({ code }) => code)).toEqual([0, 0]);
  expect(setup.counts(['a'])).toEqual([2]);
});

it('a run on another machine is found at the end: the name is unknown, with both ids', async () => {
  // Both read that the name is free before one of them creates it, however late the second process starts.
  const setup = await slowServer(20, 8_000, 0);
  const words = ['droplets', 'create', 'a', ...sizeAndImage, '-o', 'json'];
  const other = await anotherMachine(setup);
  const ran = await Promise.all([start(setup, words).ended, start(setup, words, other).ended]);
  expect(setup.counts(['a'])).toEqual([2]);
  expect(ran.map(({ code }) => code)).toContain(5);
  const named = ran.map(({ stdout }) => stdout).join('');
  for (const id of setup.ids('a')) expect(named).toContain(String(id));
});

it('a nightly run with --if-exists skip names older duplicates, and does not fail', async () => {
  const setup = await setUpBatch();
  const words = ['droplets', 'create', 'a', ...sizeAndImage];
  for (let one = 0; one < 2; one++) expect((await setup.run([...words, '--if-exists', 'create'])).code).toBe(0);
  for (let night = 0; night < 2; night++) {
    const ran = await setup.run([...words, '--if-exists', 'skip']);
    expect(ran.code).toBe(0);
    for (const id of setup.ids('a')) expect(ran.stderr).toContain(String(id));
  }
});

/**
 * Two or three runs with the same names at random times, on one machine or on two, with a slow server whose lists lag; some are
 * killed. Afterwards one more run creates what is missing.
 */
it.each(scheduleSeeds.flatMap((seed) => [[seed, 1] as const, [seed, 2] as const]))(
  'random schedule %i on %i machines',
  async (seed, machines) => {
    const chance = seededRandom(7_000 * machines + seed);
    const setup = await slowServer(30, Math.floor(chance() * 700), chance() < 0.5 ? 0 : Math.floor(chance() * 3_000));
    const modes = ['fail', 'skip', 'skip'] as const;
    const other = await anotherMachine(setup);
    const started: Started[] = [];
    for (let run = 0; run < 2 + Math.floor(chance() * 2); run++) {
      const mode = modes[Math.floor(chance() * modes.length)] ?? 'skip';
      const env = machines === 2 && run % 2 === 1 ? other : {};
      const one = start(setup, [...create, '--if-exists', mode], env);
      started.push(one);
      if (chance() < 0.4) void sleep(500 + chance() * 3_000).then(one.kill);
      await sleep(chance() * 1_500);
    }
    const ran = await Promise.all(started.map(({ ended }) => ended));
    const last = await setup.run([...create, '--if-exists', 'skip']);
    const row = recordSchedule(setup, names, {
      schedule: `overlap, machines: ${machines}`,
      seed,
      runs: started.length + 1,
    });
    expect(row.missing, last.stderr).toBe(0);
    const printed = [...ran, last].map(({ stdout, stderr }) => `${stdout}${stderr}`).join('');
    const twice = names.filter((name) => setup.ids(name).length > 1);
    if (machines === 1) expect(twice, printed).toEqual([]);
    // A run that was killed names nothing; the last one lists what is there.
    for (const name of twice) for (const id of setup.ids(name)) expect(printed).toContain(String(id));
  },
);

describe('a run that was killed while its request was on its way', () => {
  const four = ['kz-01', 'kz-02', 'kz-03', 'kz-04'];
  const words = ['droplets', 'create', 'kz-{01..04}', ...sizeAndImage, '--if-exists', 'skip'];
  it.each([
    ['carried out later', 'delay', { created: 4, failed: 0, unknown: 0, state: 'finished' }],
    ['never carried out', 'status', { created: 0, failed: 4, unknown: 0, state: 'unfinished' }],
  ] as const)('%s: the next run settles its ledger, and later ones do not wait', async (_, action, settled) => {
    // The wait for a request that does not arrive is 180 s, here 36 s and 9 s.
    const setup = await setUpBatch({ acceleration: action === 'delay' ? 5 : 20 });
    const match = { method: 'POST', path: '/v2/droplets' };
    // A refused request is held for so long, too, so that the run is killed before the response.
    setup.sandbox.faults.add({ match, action, delay: 1_500, ...(action === 'status' ? { status: 503 } : {}) });
    const killed = start(setup, words);
    while (setup.sandbox.faults.list()[0]?.applied !== 1) await sleep(10);
    killed.kill();
    await killed.ended;
    const began = Date.now();
    const next = await setup.run(words);
    expect([next.code, setup.counts(four)], next.stderr).toEqual([0, [1, 1, 1, 1]]);
    expect(next.stderr).toContain('Looking up 4 names');
    if (action === 'delay') expect(Date.now() - began).toBeLessThan(20_000);
    const listed = (await setup.run(['droplets', 'batches', 'list', '-o', 'json'])).json<readonly object[]>();
    expect(listed.at(-1)).toMatchObject(settled);
    for (let run = 0; run < 2; run++) {
      expect((await setup.run(['droplets', 'delete', 'kz-*', '--yes'])).code).toBe(0);
      const later = await setup.run(words);
      expect([later.code, setup.counts(four)], later.stderr).toEqual([0, [1, 1, 1, 1]]);
      expect(later.stderr).not.toContain('Looking up');
    }
  });
});
