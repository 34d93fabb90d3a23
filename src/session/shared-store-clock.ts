import type { Clock } from '../platform/host.ts';

/** A clock that is set to the time that a shared store returned last, and that continues from there. */
export interface SharedStoreClock extends Clock {
  /** Sets the clock to the time of the store, in milliseconds since the epoch. */
  set(storeMs: number): void;
  /** The time of the store minus the time of this machine; undefined before the first call of `set`. */
  offset(): number | undefined;
  /** Milliseconds since the creation of this clock. */
  elapsed(): number;
}

/**
 * The clock of a shared store: the machines that share a session need not have the same time. Elapsed time is the greater of
 * the monotonic and the wall clock, because the monotonic clock of Linux stops while the machine is suspended.
 * @param knownOffset the offset at an earlier run, until the store returns its time
 */
export function createSharedStoreClock(
  clock: Clock,
  knownOffset: () => number | undefined = () => undefined,
  monotonic: () => number = () => performance.now(),
): SharedStoreClock {
  const since = (start: { readonly wall: number; readonly steady: number }): number =>
    Math.max(clock.now() - start.wall, monotonic() - start.steady);
  const start = { wall: clock.now(), steady: monotonic() };
  let anchor: { readonly store: number; readonly wall: number; readonly steady: number } | undefined;
  return {
    now: () => (anchor === undefined ? clock.now() + (knownOffset() ?? 0) : anchor.store + since(anchor)),
    sleep: (ms, signal) => clock.sleep(ms, signal),
    set(storeMs) {
      anchor = { store: storeMs, wall: clock.now(), steady: monotonic() };
    },
    offset: () => (anchor === undefined ? undefined : anchor.store - anchor.wall),
    elapsed: () => since(start),
  };
}
