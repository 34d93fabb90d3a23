/** A clock that has an offset from the system time, or that is frozen at an instant. In milliseconds. */
export interface ClockState {
  readonly offset: number;
  readonly frozenAt: number | null;
}

export const SYSTEM_CLOCK: ClockState = { offset: 0, frozenAt: null };

export function readClock(clock: ClockState, systemTime: number): number {
  return clock.frozenAt ?? systemTime + clock.offset;
}

/**
 * Advances the virtual clock by a number of milliseconds. The virtual clock never moves backward, so a deadline that has passed
 * stays passed.
 */
export function advanceClock(clock: ClockState, by: number): ClockState {
  return { offset: clock.offset + by, frozenAt: clock.frozenAt === null ? null : clock.frozenAt + by };
}

export function freezeClock(clock: ClockState, systemTime: number): ClockState {
  return { ...clock, frozenAt: readClock(clock, systemTime) };
}

/** Lets a frozen virtual clock continue from the instant at which it was frozen. */
export function resumeClock(clock: ClockState, systemTime: number): ClockState {
  return clock.frozenAt === null ? clock : { offset: clock.frozenAt - systemTime, frozenAt: null };
}

/**
 * Parses a duration to milliseconds from a text such as `30s` or `+10m`, or from a number; undefined for any other value, a
 * negative one, or more than 100 years.
 */
export function parseDuration(value: unknown): number | undefined {
  const [, amount, unit = ''] = typeof value === 'string' ? (/^\+?(\d{1,12})(ms|s|m|h|d)$/.exec(value) ?? []) : [];
  const duration = typeof value === 'number' ? value : Number(amount) * (UNITS.get(unit) ?? Number.NaN);
  return Number.isSafeInteger(duration) && duration >= 0 && duration <= MAX_DURATION_MS ? duration : undefined;
}

/** Whether the clock may show the time, in milliseconds: every deadline of such a time has a year of four digits. */
export function isClockTime(time: number): boolean {
  return time >= 0 && time < Date.UTC(9999, 0);
}

export const MAX_DURATION_MS = 36_525 * 86_400_000;
const UNITS: ReadonlyMap<string, number> = new Map([
  ['ms', 1],
  ['s', 1_000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
]);
