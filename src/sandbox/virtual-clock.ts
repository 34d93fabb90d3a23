/** A clock that has an offset from the system time, or that is frozen at an instant. In milliseconds. */
export interface VirtualClock {
  readonly offset: number;
  readonly frozenAt: number | null;
}

export const SYSTEM_TIME_CLOCK: VirtualClock = { offset: 0, frozenAt: null };

export function readVirtualTime(clock: VirtualClock, systemTime: number): number {
  return clock.frozenAt ?? systemTime + clock.offset;
}

/**
 * Advances the virtual clock by a number of milliseconds. The virtual clock never moves backward, so a deadline that has passed
 * stays passed.
 */
export function advanceClock(clock: VirtualClock, by: number): VirtualClock {
  return { offset: clock.offset + by, frozenAt: clock.frozenAt === null ? null : clock.frozenAt + by };
}

export function freezeClock(clock: VirtualClock, systemTime: number): VirtualClock {
  return { ...clock, frozenAt: readVirtualTime(clock, systemTime) };
}

/** Lets a frozen virtual clock continue from the instant at which it was frozen. */
export function resumeClock(clock: VirtualClock, systemTime: number): VirtualClock {
  return clock.frozenAt === null ? clock : { offset: clock.frozenAt - systemTime, frozenAt: null };
}
