import { setTimeout as after } from 'node:timers/promises';
import type { Clock } from './host.ts';
import { maxTimerMs } from './timeout-signal.ts';

/** The machine's own time. */
export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: async (ms, signal) => {
    // The time of day may be set back meanwhile, and a pause of a second would last an hour.
    const end = performance.now() + ms;
    for (let left = ms; left > 0; left = end - performance.now()) {
      await after(Math.min(left, maxTimerMs), undefined, signal === undefined ? {} : { signal });
    }
  },
};
