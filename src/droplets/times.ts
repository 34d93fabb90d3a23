declare const __TEST_BUILD__: boolean | undefined;

/** The time limits and intervals of a batch in milliseconds. Tests use shorter times than the program. */
export interface TimeLimits {
  /** The time from the end of a connection to the first lookup that can prove that a droplet does not exist. */
  readonly settleDelay: number;
  /**
   * The time after the `sending` line of a killed process in which the kernel can still send the request: the request may have
   * waited 30 s for its connection, and an orphaned socket is retransmitted for 102 s plus its first interval
   * (docs/decisions/012-batches.md).
   */
  readonly orphanLimit: number;
  /** The interval between two lookups of a group. */
  readonly lookupInterval: number;
  /** The time for which a group is looked up again if only some of its droplets exist. */
  readonly partialLimit: number;
  /** The longest time between the creations of two droplets by one request, by the server's clock. */
  readonly maxCreationSpread: number;
  /** The time to wait for a late response while its connection is open. */
  readonly responseLimit: number;
  /** The time to wait for a late response after lookups have found all droplets of the request. */
  readonly responseGrace: number;
  /** The time to wait for requests in flight after an interruption. */
  readonly interruptLimit: number;
  /** The time from the last creation to the first poll of `--wait`. */
  readonly firstPoll: number;
  /** The shortest interval between two polls of `--wait`. */
  readonly pollInterval: number;
  /** The time window in which `--wait` sends at most 25 requests. */
  readonly pollWindow: number;
  /** The time to wait before the second try of `--retry-for`; each further wait is twice as long. */
  readonly retryPause: number;
  /** The longest wait between two tries of `--retry-for`. */
  readonly maxRetryPause: number;
}

export const defaultTimeLimits: TimeLimits = {
  settleDelay: 15_000,
  orphanLimit: 150_000,
  lookupInterval: 15_000,
  partialLimit: 60_000,
  maxCreationSpread: 60_000,
  responseLimit: 300_000,
  responseGrace: 10_000,
  interruptLimit: 10_000,
  firstPoll: 2_000,
  pollInterval: 5_000,
  pollWindow: 60_000,
  retryPause: 5_000,
  maxRetryPause: 60_000,
};

/**
 * Returns the time limits and intervals of a run. In a test build `CLOUDCTL_TEST_HASTE=100` divides all times by 100; a release
 * build ignores the variable.
 */
export function timeLimits(env: Readonly<Record<string, string | undefined>>): TimeLimits {
  if (typeof __TEST_BUILD__ === 'undefined' || !__TEST_BUILD__) return defaultTimeLimits;
  return acceleratedTimeLimits(Number(env.CLOUDCTL_TEST_HASTE ?? 1));
}

/** @param factor divides every default time, except the one that the server's clock measures */
function acceleratedTimeLimits(factor: number): TimeLimits {
  const timings = Object.entries(defaultTimeLimits).map(([name, ms]) => [name, ms / factor]);
  // `maxCreationSpread` is measured by the server's clock, which tests cannot accelerate.
  return {
    ...defaultTimeLimits,
    ...Object.fromEntries(timings),
    maxCreationSpread: defaultTimeLimits.maxCreationSpread,
  };
}
