import { setTimeout as after } from 'node:timers/promises';
import type { Clock } from './host.ts';

/** The machine's own time. */
export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: async (ms, signal) => {
    // The time of day may be set back meanwhile, and a pause of a second would last an hour.
    const end = performance.now() + ms;
    // A timer of Node holds 24 days; a longer one would be over at once.
    for (let left = ms; left > 0; left = end - performance.now()) {
      await after(Math.min(left, longestTimer), undefined, signal === undefined ? {} : { signal });
    }
  },
};

const longestTimer = 2 ** 31 - 1;
