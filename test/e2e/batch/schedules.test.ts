import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { FaultSpec } from '../../../src/sandbox/faults/fault.ts';
import type { Ran } from '../../fixtures/cli.ts';
import type { Environment } from '../../fixtures/folders.ts';
import { TOMAS, tokenFor, userOf } from '../../sandbox/requests.ts';
import {
  addRandomFaults,
  type BatchSetup,
  ledgerOf,
  namesFile,
  ndjsonRows,
  type Row,
  seededRandom,
  setUpBatch,
} from './batch-setup.ts';
import { isFullRun, recordSchedule, scheduleSeeds } from './schedule-table.ts';

/** The waits are 15 times shorter: two lookups prove 2 s after the end of a connection that no droplet exists. */
const acceleration = 15;
/** The server commits and shows droplets late, each by at most so many ms. Together that leaves 1.3 s for a loaded machine. */
const longestLateness = 350;

const names = Array.from({ length: isFullRun ? 200 : 60 }, (_, at) => `n-${at}`);
/** The server stores another region, another size and another image. */
const aliases = ['--region', 'nyc1', '--size', '1gb', '--image', 'ubuntu-22-04-x64'];
const personal = { user: TOMAS, context: 'personal' } as const;
const team = { user: TOMAS, context: 'team' } as const;

/** A server that normalises every creation, whose lists lag, and that commits some creations late; and other faults. */
function misbehave(setup: BatchSetup, chance: () => number): void {
  const late = (): number => 100 + Math.floor(chance() * (longestLateness - 100));
  const creations: readonly Pick<FaultSpec, 'action' | 'delay' | 'status'>[] = [
    { action: 'commit_late', delay: late() },
    { action: 'commit_late', delay: late() },
    { action: 'commit_late', delay: late() },
    { action: 'delay', delay: late() },
    { action: 'commit_then_drop' },
    { action: 'drop_before_commit' },
    { action: 'half_body' },
    { action: 'bad_json' },
    { action: 'status', status: 503 },
    { action: 'html_502' },
    { action: 'reset' },
  ];
  const creation = { method: 'POST', path: '/v2/droplets' };
  const list = { method: 'GET', path: '/v2/droplets' };
  addRandomFaults(setup, creations, { times: 12, among: names.length / 10, chance });
  for (const action of ['status', 'reset', 'bad_json'] as const)
    setup.sandbox.faults.add({ match: list, action, nth: 2 + Math.floor(chance() * 30) });
  setup.sandbox.faults.add({ match: creation, action: 'normalize_attributes', times: 1_000_000 });
  setup.sandbox.faults.add({ match: list, action: 'lag_lists', delay: late(), times: 1_000_000 });
}

interface Schedule {
  readonly setup: BatchSetup;
  readonly seed: number;
  readonly chance: () => number;
  /** Odd seeds. */
  readonly isTagged: boolean;
  /** The longest time until a run is killed, in ms. */
  readonly longest: number;
}

async function setUpSchedule(seed: number): Promise<Schedule> {
  const chance = seededRandom(seed);
  const setup = await setUpBatch({ seed: personal, acceleration });
  misbehave(setup, chance);
  return { setup, seed, chance, isTagged: seed % 2 === 1, longest: 1_500 };
}

/** Runs the command and kills it after a random time. */
async function killedRun(
  { setup, chance, longest }: Schedule,
  words: readonly string[],
  env: Environment = {},
): Promise<Ran> {
  const running = setup.start(words, { env });
  running.child.stdin?.end();
  await running.waitFor('stderr', /^ledger: /m).catch(() => undefined);
  await sleep(chance() * longest);
  running.kill('SIGKILL');
  return running.ended;
}

/** The environment of a run whose access token was not issued to the session. */
async function tokenInEnvironment({ sandbox }: BatchSetup, grant: { readonly team?: string }): Promise<Environment> {
  const { access_token } = await tokenFor(sandbox, { user: TOMAS, ...grant });
  return { CLOUDCTL_ACCESS_TOKEN: access_token };
}

/** Resumes until nothing is left to send: names whose droplet differs from the request stay unknown. */
async function finish(
  setup: BatchSetup,
  words: readonly string[],
  env: Environment = {},
): Promise<{ readonly rows: readonly Row[]; readonly runs: number }> {
  for (let runs = 1; ; runs++) {
    const ran = await setup.run(words, { env });
    const rows = ndjsonRows(ran.stdout);
    expect([0, 5], ran.stderr).toContain(ran.code);
    if (rows.length === names.length && rows.every(({ status }) => status === 'created' || status === 'unknown'))
      return { rows, runs };
    expect(runs, ran.stderr).toBeLessThan(8);
  }
}

/** Each name has one droplet, and its row says which. With the tag of `--batch-id` no name is unknown. */
function expectExactlyOnce(
  { setup, seed, isTagged }: Schedule,
  schedule: string,
  rows: readonly Row[],
  runs: number,
): void {
  const unknown = rows.filter(({ status }) => status === 'unknown');
  const row = recordSchedule(setup, names, { schedule, seed, runs, unknown: unknown.length });
  expect(row).toMatchObject({ duplicates: 0, missing: 0 });
  expect(rows.map(({ name }) => name).toSorted()).toEqual(names.toSorted());
  for (const { name, status, id, error = '' } of rows) {
    if (status === 'created') expect([name, id]).toEqual([name, setup.ids(name)[0]]);
    else expect(error).toContain(`${name}: ${setup.ids(name)[0]}, region nyc3 instead of nyc1`);
  }
  if (isTagged) expect(unknown).toEqual([]);
}

const printed = ['--timeout', '1s', '-o', 'ndjson'];

function creation({ setup, seed, isTagged }: Schedule): readonly string[] {
  const tag = isTagged ? ['--batch-id', `schedule-${seed}`, '--ledger', 'batch.jsonl'] : [];
  return ['droplets', 'create', ...namesFile(setup, names), ...aliases, ...tag, ...printed];
}

describe('a server that normalises attributes, lags and commits late: every name of a killed batch exactly once', () => {
  it.each(scheduleSeeds)('resumed under another token (schedule %i)', async (seed) => {
    const schedule = await setUpSchedule(seed);
    const { setup } = schedule;
    const resume = resumption(await killedRun(schedule, creation(schedule)));
    expect(await setup.run(['auth', 'refresh'])).toMatchObject({ code: 0 });
    await killedRun(schedule, resume);
    await killedRun(schedule, resume, await tokenInEnvironment(setup, {}));
    expect(await setup.run(['auth', 'refresh'])).toMatchObject({ code: 0 });
    const { rows, runs } = await finish(setup, resume);
    expectExactlyOnce(schedule, 'another token', rows, runs + 3);
  });

  it.each(scheduleSeeds)('resumed in another context, which is refused, and in its own (schedule %i)', async (seed) => {
    const schedule = await setUpSchedule(1_000 + seed);
    const { setup } = schedule;
    const resume = resumption(await killedRun(schedule, creation(schedule)));
    const other = userOf(setup.sandbox, TOMAS).teams[0]?.uuid ?? '';
    const droplets = setup.sandbox.world.droplets.of(other).length;
    await setup.logIn(team);
    for (const env of [{}, await tokenInEnvironment(setup, { team: other })]) {
      const refused = await setup.run(resume, { env });
      expect(refused, refused.stderr).toMatchObject({ code: 4, stdout: '' });
      expect(refused.stderr).toContain('personal');
      expect(refused.stderr).toContain(other);
      expect(setup.sandbox.world.droplets.of(other)).toHaveLength(droplets);
      await setup.logIn(personal);
      await killedRun(schedule, resume);
    }
    const { rows, runs } = await finish(setup, resume);
    expectExactlyOnce(schedule, 'another context', rows, runs + 3);
  });

  it.each(scheduleSeeds)(
    'continued by --batch-id on another machine, without its ledger (schedule %i)',
    async (seed) => {
      const schedule = { ...(await setUpSchedule(2_000 + seed)), isTagged: true, longest: 3_000 };
      const { setup } = schedule;
      const words = [...creation({ ...schedule, isTagged: false }), '--batch-id', `Nightly-${seed}`];
      const machines = await Promise.all([1, 2].map((number) => anotherMachine(setup, number)));
      await killedRun(schedule, words);
      for (const env of machines) await killedRun(schedule, words, env);
      const { rows, runs } = await finish(setup, words, await anotherMachine(setup, 3));
      expectExactlyOnce(schedule, 'no ledger, another state folder', rows, runs + 3);
      // The ledger of the first machine knows little of what the others did.
      expectExactlyOnce(schedule, 'again on the first machine', (await finish(setup, words)).rows, 1);
    },
  );
});

/** Another machine of the same account: a state folder of its own, and another access token. */
async function anotherMachine(setup: BatchSetup, number: number): Promise<Environment> {
  return {
    ...(await tokenInEnvironment(setup, {})),
    CLOUDCTL_STATE_DIR: join(setup.work, `state-${number}`),
  };
}

function resumption({ stderr }: Ran): readonly string[] {
  return ['droplets', 'create', '--resume', ledgerOf(stderr), ...printed];
}
