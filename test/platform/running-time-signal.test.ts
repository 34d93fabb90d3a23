import { setTimeout as after } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createRunningTimeTimeoutSignal } from '../../src/platform/waiting.ts';

/** The whole thread stands still, as in a process that was stopped. */
function stopFor(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

describe('a limit of running time', () => {
  it('aborts with the error of AbortSignal.timeout', async () => {
    const signal = createRunningTimeTimeoutSignal(30, 10);
    expect(signal.aborted).toBe(false);
    // The timers of the signal do not keep a process alive, the test's own do.
    while (!signal.aborted) await after(5);
    expect(signal.reason).toMatchObject({ name: 'TimeoutError' });
    expect(signal.reason).toBeInstanceOf(DOMException);
  });

  it.each([
    [20_000, 1_000],
    [50, 50],
  ])('of %i ms is not over because the process was stopped for longer', async (ms, tick) => {
    const signal = createRunningTimeTimeoutSignal(ms, tick);
    stopFor(Math.min(ms, 250) + 2 * tick);
    await new Promise((resolve) => setImmediate(resolve));
    expect(signal.aborted).toBe(false);
  });
});
