/** An exponentially weighted moving average of a rate. */
export interface MovingAverageRate {
  /** Units per second. */
  readonly perSecond: number;
  /** Total number of units at the last sample. */
  readonly total: number;
  /** Milliseconds. */
  readonly at: number;
}

/** Time constant in seconds: after this time, 63 % of a change of the rate is visible. */
const averagingSeconds = 15;

/** @param before the previous average; undefined if there is no earlier sample */
export function updateMovingRate(before: MovingAverageRate | undefined, total: number, at: number): MovingAverageRate {
  if (before === undefined || total < before.total) return { perSecond: 0, total, at };
  const seconds = (at - before.at) / 1000;
  // If the clock was set back, the rate does not change.
  if (seconds <= 0) return seconds === 0 ? before : { ...before, total, at };
  const now = (total - before.total) / seconds;
  // The first measured rate is used without averaging.
  const weight = before.perSecond === 0 ? 1 : 1 - Math.exp(-seconds / averagingSeconds);
  return { perSecond: before.perSecond + weight * (now - before.perSecond), total, at };
}

/** Seconds until `left` units are done; undefined if the rate is zero. */
export function estimateSecondsLeft(left: number, perSecond: number): number | undefined {
  if (left <= 0) return 0;
  return perSecond > 0 ? Math.ceil(left / perSecond) : undefined;
}
