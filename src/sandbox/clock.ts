/** A virtual clock is a value: an offset from the machine's clock, or an instant at which it stands still. All in milliseconds. */
export interface ClockState {
  readonly offset: number;
  readonly frozenAt: number | null;
}

export const REAL_TIME: ClockState = { offset: 0, frozenAt: null };

export function readClock(clock: ClockState, machine: number): number {
  return clock.frozenAt ?? machine + clock.offset;
}

/** Moves forward only: a deadline that has passed stays passed. */
export function advanceClock(clock: ClockState, by: number): ClockState {
  return { offset: clock.offset + by, frozenAt: clock.frozenAt === null ? null : clock.frozenAt + by };
}

export function freezeClock(clock: ClockState, machine: number): ClockState {
  return { ...clock, frozenAt: readClock(clock, machine) };
}

/** Goes on from the instant it was frozen at, so that no time passes by letting go. */
export function resumeClock(clock: ClockState, machine: number): ClockState {
  return clock.frozenAt === null ? clock : { offset: clock.frozenAt - machine, frozenAt: null };
}
