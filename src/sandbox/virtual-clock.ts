/** A clock that has an offset from the system time, or that is frozen at an instant. In milliseconds. */
export interface VirtualClockState {
  readonly offset: number;
  readonly frozenAt: number | null;
}

export const VIRTUAL_CLOCK_AT_SYSTEM_TIME: VirtualClockState = { offset: 0, frozenAt: null };

export function readVirtualTime(clock: VirtualClockState, systemTime: number): number {
  return clock.frozenAt ?? systemTime + clock.offset;
}

/**
 * Advances the virtual clock by a number of milliseconds. The virtual clock never moves backward, so a deadline that has passed
 * stays passed.
 */
export function advanceVirtualClock(clock: VirtualClockState, by: number): VirtualClockState {
  return { offset: clock.offset + by, frozenAt: clock.frozenAt === null ? null : clock.frozenAt + by };
}

export function freezeVirtualClock(clock: VirtualClockState, systemTime: number): VirtualClockState {
  return { ...clock, frozenAt: readVirtualTime(clock, systemTime) };
}

/** Lets a frozen virtual clock continue from the instant at which it was frozen. */
export function resumeVirtualClock(clock: VirtualClockState, systemTime: number): VirtualClockState {
  return clock.frozenAt === null ? clock : { offset: clock.frozenAt - systemTime, frozenAt: null };
}
