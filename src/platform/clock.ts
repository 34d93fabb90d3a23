import { setTimeout as after } from 'node:timers/promises';
import type { Clock } from './host.ts';
import { maxTimerMs } from './timeout-signal.ts';

/** The clock of this machine. */
export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: async (ms, signal) => {
    // Measured by the monotonic clock, because the system time may be changed during the sleep.
    const end = performance.now() + ms;
    for (let left = ms; left > 0; left = end - performance.now()) {
      await after(Math.min(left, maxTimerMs), undefined, signal === undefined ? {} : { signal });
    }
  },
};
