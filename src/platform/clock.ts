import { setTimeout as after } from 'node:timers/promises';
import type { Clock } from './host.ts';
import { maxTimerMs } from './timeout-signal.ts';

/** The Clock interface, implemented with the clocks of this machine. */
export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: async (ms, signal) => {
    // The sleep is measured with the monotonic clock, because the system time may be changed during the sleep.
    const end = performance.now() + ms;
    for (let left = ms; left > 0; left = end - performance.now()) {
      await after(Math.min(left, maxTimerMs), undefined, signal === undefined ? {} : { signal });
    }
  },
};
