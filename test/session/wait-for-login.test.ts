import { describe, expect, it } from 'vitest';
import { CliError } from '../../src/errors.ts';
import { deferSignals } from '../../src/platform/defer-signals.ts';
import type { Clock } from '../../src/platform/host.ts';
import { waitForLogin } from '../../src/session/wait-for-login.ts';
import { testHost } from '../fixtures/host.ts';

/** Waits end when they are told to. */
function handClock() {
  const waits: { readonly ms: number; readonly end: () => void }[] = [];
  const clock: Clock = {
    now: () => 0,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        waits.push({ ms, end: resolve });
        signal?.addEventListener('abort', () => reject(new Error('aborted')));
      }),
  };
  const pass = (ms: number) => {
    for (const wait of waits) if (wait.ms <= ms) wait.end();
  };
  return { clock, waits, pass };
}

function race() {
  const host = testHost();
  const { clock, pass, waits } = handClock();
  let take: () => void = () => undefined;
  let finish: (value: string) => void = () => undefined;
  let fail: (error: Error) => void = () => undefined;
  const taken = new Promise<void>((resolve) => {
    take = resolve;
  });
  const finished = new Promise<string>((resolve, reject) => {
    finish = resolve;
    fail = reject;
  });
  finished.catch(() => undefined);
  const outcome = waitForLogin(
    { clock, signals: host.signals, limit: 300_000, timeoutError: () => new CliError('login_timeout', 'over') },
    taken,
    finished,
  );
  outcome.catch(() => undefined);
  return { host, outcome, take, finish, fail, pass, waits };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

describe('a login', () => {
  it('that is finished gives its result, and hears no signal any more', async () => {
    const { host, outcome, take, finish } = race();
    take();
    finish('done');
    expect(await outcome).toEqual({ value: 'done', signal: undefined });
    expect(host.signal('SIGINT')).toBe(0);
  });

  it('whose time is over before an answer came ends with login_timeout', async () => {
    const { outcome, pass } = race();
    pass(300_000);
    await expect(outcome).rejects.toMatchObject({ code: 'login_timeout', exitCode: 4 });
  });

  it('that was answered has all the time it needs', async () => {
    const { outcome, take, finish, pass } = race();
    take();
    await settle();
    pass(300_000);
    await settle();
    finish('late');
    expect(await outcome).toEqual({ value: 'late', signal: undefined });
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 130],
  ] as const)('ends at once by %s before an answer came: %d', async (signal, exitCode) => {
    const { host, outcome } = race();
    host.signal(signal);
    await expect(outcome).rejects.toMatchObject({ code: 'cancelled', exitCode });
  });

  it('lets an exchange under way end, and tells by which signal the program is to end', async () => {
    const { host, outcome, take, finish, waits } = race();
    take();
    await settle();
    host.signal('SIGTERM');
    await settle();
    expect(waits.map(({ ms }) => ms)).toContain(5_000);
    host.signal('SIGINT');
    finish('stored');
    expect(await outcome).toEqual({ value: 'stored', signal: 'SIGTERM' });
  });

  it('abandons an exchange that takes more than five seconds, and says so', async () => {
    const { host, outcome, take, pass } = race();
    take();
    await settle();
    host.signal('SIGINT');
    await settle();
    pass(5_000);
    await expect(outcome).rejects.toMatchObject({ exitCode: 130, detail: expect.stringContaining('abandoned') });
  });

  it('that fails gives its error', async () => {
    const { outcome, take, fail } = race();
    take();
    fail(new CliError('invalid_grant', 'no'));
    await expect(outcome).rejects.toMatchObject({ code: 'invalid_grant' });
  });
});

describe('work that must not be interrupted', () => {
  it('gives its result when no signal came, and its error', async () => {
    const { signals, signal } = testHost();
    expect(await deferSignals(signals, async () => 7)).toBe(7);
    await expect(deferSignals(signals, () => Promise.reject(new Error('x')))).rejects.toThrow('x');
    expect(signal('SIGINT')).toBe(0);
  });

  it('ends by the first of several signals', async () => {
    const { signals, signal } = testHost();
    const work = deferSignals(signals, async () => {
      signal('SIGTERM');
      signal('SIGINT');
    });
    await expect(work).rejects.toMatchObject({ exitCode: 143 });
  });
});
