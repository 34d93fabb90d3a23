/** A virtual clock is a value: an offset from the machine's clock, or an instant at which it stands still. All in milliseconds. */
export interface VirtualClock {
  readonly offset: number;
  readonly frozenAt: number | null;
}

export const UNCHANGED_CLOCK: VirtualClock = { offset: 0, frozenAt: null };

export function readVirtualTime(clock: VirtualClock, machine: number): number {
  return clock.frozenAt ?? machine + clock.offset;
}

/** Moves forward only: a deadline that has passed stays passed. */
export function advanceClock(clock: VirtualClock, by: number): VirtualClock {
  return { offset: clock.offset + by, frozenAt: clock.frozenAt === null ? null : clock.frozenAt + by };
}

export function freezeClock(clock: VirtualClock, machine: number): VirtualClock {
  return { ...clock, frozenAt: readVirtualTime(clock, machine) };
}

/** Goes on from the instant it was frozen at, so that no time passes by letting go. */
export function resumeClock(clock: VirtualClock, machine: number): VirtualClock {
  return clock.frozenAt === null ? clock : { offset: clock.frozenAt - machine, frozenAt: null };
}
