import { expect, test } from 'vitest';
import { createLoginStateMachine } from '../../../src/auth/loopback/login-state-machine.ts';
import type { LoginOutcome } from '../../../src/auth/loopback/outcome-page.ts';

/** A clock that moves when it is told to. */
function handClock() {
  let now = 0;
  const sleepers = new Set<{ readonly at: number; readonly wake: () => void }>();
  return {
    now: () => now,
    sleep: (ms: number, signal?: AbortSignal) =>
      new Promise<void>((resolve, reject) => {
        if (signal?.aborted) return reject(new Error('aborted'));
        const sleeper = { at: now + ms, wake: resolve };
        sleepers.add(sleeper);
        signal?.addEventListener('abort', () => {
          sleepers.delete(sleeper);
          reject(new Error('aborted'));
        });
      }),
    async pass(ms: number) {
      now += ms;
      for (const sleeper of [...sleepers].filter(({ at }) => at <= now)) {
        sleepers.delete(sleeper);
        sleeper.wake();
      }
      await settle();
    },
    sleepers,
  };
}

/** Lets everything that is ready run. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function setup(finish: (accepted: string) => Promise<LoginOutcome> = () => new Promise(() => undefined)) {
  const clock = handClock();
  let released = 0;
  const calls: string[] = [];
  const login = createLoginStateMachine<string>({
    clock,
    finish: (accepted) => {
      calls.push(accepted);
      return finish(accepted);
    },
    release: async () => {
      released += 1;
    },
  });
  return { clock, login, calls, released: () => released };
}

const signedIn: LoginOutcome = { kind: 'signed_in', name: 'Sammy' };

test('rule 22: taking latches before anything is awaited', () => {
  const { login, calls } = setup();
  expect([login.take('a', 'tab'), login.take('b', 'tab'), login.take('c', 'elsewhere')]).toEqual([true, false, false]);
  expect(login.phase()).toEqual({ kind: 'taken' });
  expect(calls).toEqual(['a']);
});

test('a closed login takes nothing, and its start link is not used any more', async () => {
  const { login, calls, released } = setup();
  await Promise.all([login.close(), login.close()]);
  expect(login.take('a', 'tab')).toBe(false);
  login.markStarted();
  expect(login.phase()).toEqual({ kind: 'closed' });
  expect([calls.length, released()]).toEqual([0, 1]);
});

test('the start link is used up by its first use', () => {
  const { login } = setup();
  expect(login.phase()).toEqual({ kind: 'armed', started: false });
  login.markStarted();
  expect(login.phase()).toEqual({ kind: 'armed', started: true });
});

test('rule 28: the port closes once the tab was told', async () => {
  const { login, released } = setup(async () => signedIn);
  login.take('a', 'tab');
  const leave = login.tabWaits();
  expect(await login.outcome()).toEqual(signedIn);
  await settle();
  expect(released()).toBe(0);
  leave(true);
  await login.closed;
  expect(released()).toBe(1);
});

test('rule 28: or after five seconds without a tab', async () => {
  const { clock, login, released } = setup(async () => signedIn);
  login.take('a', 'tab');
  await clock.pass(4999);
  expect(released()).toBe(0);
  await clock.pass(1);
  expect(released()).toBe(1);
});

test('a tab that waits holds the port as long as the exchange takes', async () => {
  let end: (outcome: LoginOutcome) => void = () => undefined;
  const { clock, login, released } = setup(
    () =>
      new Promise((resolve) => {
        end = resolve;
      }),
  );
  login.take('a', 'tab');
  const leave = login.tabWaits();
  await clock.pass(30_000);
  expect(released()).toBe(0);
  end(signedIn);
  expect(await login.outcome()).toEqual(signedIn);
  leave(true);
  await login.closed;
});

test('a tab is told after a minute that the program is still at work', async () => {
  const { clock, login } = setup();
  login.take('a', 'tab');
  login.tabWaits();
  const outcome = login.outcome();
  await clock.pass(60_000);
  expect(await outcome).toEqual({ kind: 'unfinished' });
});

test('what came another way closes the port as soon as it is finished, or after five seconds', async () => {
  const quick = setup(async () => signedIn);
  quick.login.take('a', 'elsewhere');
  await quick.login.closed;
  const slow = setup();
  slow.login.take('a', 'elsewhere');
  await slow.clock.pass(5000);
  expect(slow.released()).toBe(1);
});

test('a failure of finish reaches the caller whole and the tab without its words', async () => {
  const { login } = setup(() => Promise.reject(new Error('inner words')));
  login.take('a', 'tab');
  const outcome = await login.outcome();
  expect(outcome.kind).toBe('failed');
  expect(JSON.stringify(outcome)).not.toContain('inner');
  await expect(login.finished).rejects.toThrow('inner words');
});

test('rule 5: closing leaves no timer behind', async () => {
  const { clock, login } = setup();
  login.take('a', 'tab');
  login.tabWaits();
  void login.outcome();
  expect(clock.sleepers.size).toBeGreaterThan(0);
  await login.close();
  await settle();
  expect(clock.sleepers.size).toBe(0);
});
