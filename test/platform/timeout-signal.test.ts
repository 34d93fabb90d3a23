import { setTimeout as after } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { timeoutSignal } from '../../src/platform/timeout-signal.ts';

it.each([2 ** 31, 2 ** 32, 8.64e16])('a deadline of %d ms is not over at once', async (ms) => {
  const signal = timeoutSignal(ms);
  await after(20);
  expect(signal.aborted).toBe(false);
});

it('a deadline is a TimeoutError when it is over', async () => {
  const signal = timeoutSignal(5);
  await new Promise((resolve) => signal.addEventListener('abort', resolve));
  expect(signal.reason).toMatchObject({ name: 'TimeoutError' });
});
