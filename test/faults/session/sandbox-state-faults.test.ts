import { cpSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { callWith, logIn, openPairs, refresh, type Tokens } from '../../e2e/sandbox/sandbox-machine.ts';
import { startProgram } from '../../fixtures/cli.ts';
import { type Folders, makeFolders } from '../../fixtures/folders.ts';
import { lacks } from '../../fixtures/needs.ts';
import type { Ready } from '../../fixtures/sandbox.ts';
import { program } from './fault-fixture.ts';
import { faultSample, tell } from './figures.ts';
import { faultsAt, injectionOf, placesIn, straceCommand } from './strace.ts';

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
