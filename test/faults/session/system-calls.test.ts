import { cpSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { callWith, logIn, openPairs, refresh, type Tokens } from '../../e2e/sandbox/sandbox-machine.ts';
import { startProgram } from '../../fixtures/cli.ts';
import { type Folders, makeFolders } from '../../fixtures/folders.ts';
import { lacks } from '../../fixtures/needs.ts';
import type { Ready } from '../../fixtures/sandbox.ts';
import { list } from './assertions.ts';
import { createFaultFixture, type FaultFixture, program } from './fault-fixture.ts';
import { faultSample, tell } from './figures.ts';
import { describeStores } from './stores.ts';
import { type Fault, faultsAt, injectionOf, placesIn, runWithFault, straceCommand, tracePlaces } from './strace.ts';

describeStores('the fault matrix', ({ store, make }) => {
  test.skipIf(lacks('strace'))(
    'no system call on the state folder that fails, once or from then on, loses the session',
    async (context) => {
      let fixture = await make(context);
      // The first run creates files that later ones find.
      await fixture.run(list);
      await fixture.expire();
      const places = await tracePlaces(fixture, list);
      expect(places.length).toBeGreaterThan(20);
      const faults = faultSample(faultsAt(places));
      const lost: string[] = [];
      let hits = 0;
      for (const fault of faults) {
        await fixture.expire();
        const { isHit } = await runWithFault(fixture, list, fault);
        if (isHit) hits++;
        // A later command without a fault must find the session.
        const next = await fixture.run(list);
        if (next.code === 0 && (await isConsistent(fixture))) continue;
        lost.push(`${describeFault(fault)}: exit ${next.code} ${next.stderr}`);
        fixture = await make(context);
      }
      tell({
        what: 'faults',
        store,
        values: { places: places.length, faults: faults.length, hits, lost: lost.length },
      });
      expect(lost).toEqual([]);
      expect(hits).toBeGreaterThan(faults.length / 2);
    },
    90 * 60_000,
  );
});

/** What is stored is what the server takes at the next refresh. */
async function isConsistent(fixture: FaultFixture): Promise<boolean> {
  const { world } = fixture.sandbox;
  const pair = world.grants.pairByRefreshToken((await fixture.item())?.refreshToken?.reveal() ?? '');
  return pair !== undefined && ['valid', 'expired'].includes(world.grants.pairState(pair));
}

function describeFault({ call, at, error, isPermanent }: Fault): string {
  return `${call} ${at} ${error} ${isPermanent ? 'always' : 'once'}`;
}

const options = ['--size', 's-1vcpu-1gb', '--image', 'debian-12-x64', '--region', 'fra1', '-o', 'json', '--yes'];
const create = (names: readonly string[]) => ['droplets', 'create', ...names, '--batch-size', '1', ...options];

test.skipIf(lacks('strace'))(
  'no system call on the ledger that fails, once or from then on, creates a name twice, and a resumed batch has all names',
  async (context) => {
    const fixture = await createFaultFixture('file', { test: context });
    await fixture.run(create(['warm-up']));
    const places = await tracePlaces(fixture, create(['traced-1', 'traced-2']));
    const faults = faultSample(faultsAt(places));
    const wrong: string[] = [];
    let hits = 0;
    for (const [at, fault] of faults.entries()) {
      const names = [`box-${at}-1`, `box-${at}-2`];
      const before = new Set(ledgersOf(fixture));
      const { ran, isHit } = await runWithFault(fixture, create(names), fault);
      if (isHit) hits++;
      const [ledger] = ledgersOf(fixture).filter((path) => !before.has(path));
      const resumed =
        ran.code === 0 || ledger === undefined
          ? undefined
          : await fixture.run(['droplets', 'create', '--resume', ledger, '--yes', '-o', 'json']);
      const counts = names.map((name) => dropletNames(fixture).filter((one) => one === name).length);
      const isWhole = ran.code === 0 || resumed?.code === 0;
      if (counts.some((count) => count > 1 || (isWhole && count !== 1)))
        wrong.push(`${JSON.stringify(fault)} ${counts} ${ran.code} ${ran.stderr} ${resumed?.stderr}`);
    }
    tell({
      what: 'faults',
      store: 'ledger',
      values: { places: places.length, faults: faults.length, hits, lost: wrong.length },
    });
    expect(wrong).toEqual([]);
    expect(hits).toBeGreaterThan(faults.length / 2);
  },
  90 * 60_000,
);

function ledgersOf({ folders }: FaultFixture): readonly string[] {
  return readdirSync(folders.state, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.jsonl'))
    .map((entry) => join(entry.parentPath, entry.name));
}

function dropletNames({ sandbox }: FaultFixture): readonly string[] {
  const maya = sandbox.ready.users.find(({ email }) => email === 'maya@example.com');
  return sandbox.world.droplets.of(maya?.uuid ?? '').map(({ name }) => name);
}

test.skipIf(lacks('strace'))(
  'no system call on the state folder of a sandbox that fails, once or from then on, loses a grant that was answered',
  async ({ onTestFinished }) => {
    const folders = makeFolders();
    onTestFinished(() => folders.remove());
    const [saved, state] = [join(folders.work, 'saved'), join(folders.work, 'state')];
    const first = await serve(folders, saved);
    if (first === undefined) throw new Error('the sandbox did not start');
    const kept = await logIn(first.ready);
    await first.stop();
    const useSavedState = () => {
      rmSync(state, { recursive: true, force: true });
      cpSync(saved, state, { recursive: true });
    };
    /** Starts with the saved state, refreshes its grant and adds one; resolves with the grants that were answered. */
    const runOnce = async (under: readonly string[]): Promise<readonly Tokens[]> => {
      useSavedState();
      const sandbox = await serve(folders, state, under);
      if (sandbox === undefined) return [];
      const renewed = await refresh(sandbox.ready, kept).catch(() => undefined);
      const added = renewed?.status === 200 ? await logIn(sandbox.ready).catch(() => undefined) : undefined;
      await sandbox.stop();
      const answered = [...(renewed?.status === 200 ? [renewed.body] : []), ...(added === undefined ? [] : [added])];
      return answered.filter(({ access_token: token }) => token !== undefined);
    };
    const trace = join(folders.work, 'strace.txt');
    const lines = () => readFileSync(trace, 'utf8').split('\n');
    expect(await runOnce(straceCommand(trace, ['-f']))).toHaveLength(2);
    const places = placesIn(lines(), state);
    expect(places.length).toBeGreaterThan(20);
    const faults = faultSample(faultsAt(places));
    const wrong: string[] = [];
    let hits = 0;
    for (const fault of faults) {
      const answered = await runOnce(straceCommand(trace, ['-f', '-e', injectionOf(fault)]));
      if (lines().some((line) => line.includes('(INJECTED)') && line.includes(state))) hits++;
      const after = await serve(folders, state);
      const statuses = after === undefined ? [] : await Promise.all(answered.map((one) => callWith(after.ready, one)));
      // Without an answer the grant may have been renewed all the same, but never both are gone.
      const isKept = after !== undefined && (answered.length > 0 || (await openPairs(after.ready)) === 1);
      if (!isKept || statuses.some((status) => status !== 200))
        wrong.push(
          JSON.stringify({ ...fault, isKept, started: after !== undefined, answered: answered.length, statuses }),
        );
      await after?.stop();
    }
    const values = { places: places.length, faults: faults.length, hits, lost: wrong.length };
    tell({ what: 'faults', store: 'sandbox state', values });
    expect(wrong).toEqual([]);
    expect(hits).toBeGreaterThan(faults.length / 3);
  },
  90 * 60_000,
);

interface ServingSandbox {
  readonly ready: Ready;
  readonly stop: () => Promise<void>;
}

/** undefined when it ends before it is ready. */
async function serve(
  folders: Folders,
  state: string,
  under: readonly string[] = [],
): Promise<ServingSandbox | undefined> {
  const start = ['sandbox', 'start', '--state', state, '-o', 'json', '--no-profile', '--consent'];
  const [file = '', ...args] = [...under, ...program, ...start, 'approve maya@example.com'];
  // One thread makes all calls of fs/promises, so that the N-th call is the same one in each run.
  const running = startProgram(file, args, { folders, env: { UV_USE_IO_URING: '0', UV_THREADPOOL_SIZE: '1' } });
  const stop = async () => {
    const pid = under.length === 0 ? running.pid : childOf(running.pid);
    process.kill(pid, 'SIGTERM');
    // The N-th write of the main thread may be a wake-up of libuv, which waits without it: no fault of the sandbox.
    const timer = under.length === 0 ? undefined : setTimeout(() => process.kill(pid, 'SIGKILL'), 5_000);
    await running.ended.finally(() => clearTimeout(timer));
  };
  const line = await running.waitFor('stdout', /^\{.*\}$/m).catch(() => undefined);
  if (line !== undefined) return { ready: JSON.parse(line[0]), stop };
  await running.ended;
  return undefined;
}

/** The program that strace runs: strace itself passes no signal on. */
function childOf(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0]);
}
