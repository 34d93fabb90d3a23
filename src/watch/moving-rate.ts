/** A rate that forgets: the last seconds count most (exponentially weighted moving average). */
export interface MovingRate {
  /** Units a second. */
  readonly perSecond: number;
  /** The total it was last told. */
  readonly total: number;
  /** Milliseconds. */
  readonly at: number;
}

/** After so many seconds a change of pace is seen to two thirds. */
const averagingSeconds = 15;

/** @param before undefined: the first sample, which has no rate yet */
export function updateRate(before: MovingRate | undefined, total: number, at: number): MovingRate {
  if (before === undefined || total < before.total) return { perSecond: 0, total, at };
  const seconds = (at - before.at) / 1000;
  // A clock that was set back measures nothing until it is back, unless one begins again from there.
  if (seconds <= 0) return seconds === 0 ? before : { ...before, total, at };
  const now = (total - before.total) / seconds;
  // The first rate is taken as it is: nothing is known before it.
  const weight = before.perSecond === 0 ? 1 : 1 - Math.exp(-seconds / averagingSeconds);
  return { perSecond: before.perSecond + weight * (now - before.perSecond), total, at };
}

/** Seconds until so much is done; undefined: never at this pace. */
export function estimateSecondsLeft(left: number, perSecond: number): number | undefined {
  if (left <= 0) return 0;
  return perSecond > 0 ? Math.ceil(left / perSecond) : undefined;
}
