import { describe, expect, it } from 'vitest';
import { listenForSignals } from '../../../src/auth/session/interrupt.ts';
import { CliError } from '../../../src/base/errors.ts';
import type { Clock } from '../../../src/platform/host.ts';
import { testHost } from '../../fixtures/host.ts';

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

function interruptible() {
  const host = testHost();
  const { clock, pass, waits } = handClock();
  const interruption = listenForSignals({ clock, signals: host.signals });
  let finish: (value: string) => void = () => undefined;
  let fail: (error: Error) => void = () => undefined;
  const work = new Promise<string>((resolve, reject) => {
    finish = resolve;
    fail = reject;
  });
  const timeoutError = (): CliError => new CliError('login_timeout', 'over');
  const response = (): Promise<string> => quietly(interruption.orInterrupt(work, 300_000, timeoutError));
  const exchange = (): Promise<string> =>
    quietly(interruption.withGrace(work, { detail: 'the request was interrupted' }));
  return { host, interruption, response, exchange, finish, fail, pass, waits };
}

function quietly<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

describe('the wait for a response', () => {
  it('gives the response, and no signal is listened for after close', async () => {
    const { host, interruption, response, finish } = interruptible();
    const waiting = response();
    finish('response');
    expect(await waiting).toBe('response');
    interruption.close();
    expect(host.signal('SIGINT')).toBe(0);
    expect(() => interruption.throwIfInterrupted()).not.toThrow();
  });

  it('ends with login_timeout after the time limit', async () => {
    const { response, pass } = interruptible();
    const waiting = response();
    pass(300_000);
    await expect(waiting).rejects.toMatchObject({ code: 'login_timeout', exitCode: 4 });
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('ends at once by %s: exit %d', async (signal, exitCode) => {
    const { host, interruption, response } = interruptible();
    const waiting = response();
    host.signal(signal);
    await expect(waiting).rejects.toMatchObject({ code: 'cancelled', exitCode });
    expect(interruption.signal.aborted).toBe(true);
    expect(() => interruption.throwIfInterrupted()).toThrow(expect.objectContaining({ exitCode }));
  });

  it('fails with the error of its work', async () => {
    const { response, fail } = interruptible();
    const waiting = response();
    fail(new CliError('invalid_grant', 'no'));
    await expect(waiting).rejects.toMatchObject({ code: 'invalid_grant' });
  });
});

describe('an exchange in progress', () => {
  it('has no time limit of the login', async () => {
    const { exchange, finish, pass } = interruptible();
    const waiting = exchange();
    await settle();
    pass(300_000);
    await settle();
    finish('late');
    expect(await waiting).toBe('late');
  });

  it('ends after a signal, and the first signal decides the exit code', async () => {
    const { host, interruption, exchange, finish, waits } = interruptible();
    const waiting = exchange();
    host.signal('SIGTERM');
    await settle();
    expect(waits.map(({ ms }) => ms)).toContain(5_000);
    host.signal('SIGINT');
    finish('stored');
    expect(await waiting).toBe('stored');
    expect(() => interruption.throwIfInterrupted()).toThrow(expect.objectContaining({ exitCode: 143 }));
  });

  it('is abandoned five seconds after a signal', async () => {
    const { host, interruption, exchange, pass } = interruptible();
    const waiting = exchange();
    host.signal('SIGINT');
    await settle();
    pass(5_000);
    const abandoned = { code: 'cancelled', exitCode: 130, detail: expect.any(String) };
    await expect(waiting).rejects.toMatchObject(abandoned);
    expect(() => interruption.throwIfInterrupted()).toThrow(expect.objectContaining(abandoned));
  });
});
