import { setTimeout as after } from 'node:timers/promises';
import type { Clock } from './host.ts';

/** The machine's own time. */
export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: async (ms, signal) => {
    await after(ms, undefined, signal === undefined ? {} : { signal });
  },
};
