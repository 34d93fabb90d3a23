import type { Clock } from '../platform/host.ts';

/** Limits how many bytes per second all readers that share the limiter read together. */
export interface ReadThroughputLimiter {
  /**
   * Counts bytes that were read. If they exceed the rate, returns a promise, and the reader must wait for it before it
   * reads more.
   */
  take(bytes: number): Promise<void> | undefined;
}

/**
 * Maximum number of milliseconds by which a reader may exceed the rate without waiting, because a shorter wait costs
 * more time than it is meant to add.
 */
const tolerance = 20;

/**
 * Only one timer runs at a time, however many rows arrive. The returned promises are rejected when the signal is
 * aborted.
 */
export function createRowReadThroughputLimiter(
  bytesPerSecond: number,
  clock: Clock,
  signal: AbortSignal,
): ReadThroughputLimiter {
  let due = 0;
  let waiting: Promise<void> | undefined;
  const wait = async () => {
    try {
      for (let left = due - clock.now(); left > 0; left = due - clock.now()) await clock.sleep(left, signal);
    } finally {
      waiting = undefined;
    }
  };
  return {
    take(bytes) {
      const now = clock.now();
      // A pause in which nothing was read does not allow a higher rate afterwards.
      due = Math.max(due, now) + (bytes / bytesPerSecond) * 1000;
      if (due - now > tolerance) waiting ??= wait();
      return waiting;
    },
  };
}
