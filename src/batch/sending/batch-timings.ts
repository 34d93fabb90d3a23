declare const __TEST_BUILD__: boolean | undefined;

/** The timings of a batch in milliseconds. Tests use shorter ones. */
export interface BatchTimings {
  /** From the end of a connection to the first lookup that can prove that a droplet does not exist. */
  readonly settleDelay: number;
  /**
   * How long after its `sending` line the kernel can still send the request of a killed process: it may have waited 30 s for
   * its connection, and an orphaned socket is retransmitted for 102 s and its first interval (docs/decisions/012-batches.md).
   */
  readonly orphanLimit: number;
  /** Between two lookups of a group. */
  readonly lookupInterval: number;
  /** How long a group is looked up of which only some droplets exist. */
  readonly partialLimit: number;
  /** The longest time between the creations of two droplets of one request, by the server's clock. */
  readonly maxCreationSpread: number;
  /** How long a late response is awaited on its open connection. */
  readonly responseLimit: number;
  /** How long a late response may still decide after lookups have found all droplets. */
  readonly responseGrace: number;
  /** How long requests in flight are awaited after an interruption. */
  readonly interruptLimit: number;
  /** From the last creation to the first poll of `--wait`. */
  readonly firstPoll: number;
  /** The shortest time between two polls of `--wait`. */
  readonly pollInterval: number;
  /** The time in which `--wait` sends at most 25 requests. */
  readonly pollWindow: number;
}

export const defaultBatchTimings: BatchTimings = {
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
};

/** The timings of a run. In a test build `CLOUDCTL_TEST_HASTE=100` divides them by 100; a release build ignores the variable. */
export function batchTimingsFor(env: Readonly<Record<string, string | undefined>>): BatchTimings {
  if (typeof __TEST_BUILD__ === 'undefined' || !__TEST_BUILD__) return defaultBatchTimings;
  return acceleratedTimings(Number(env.CLOUDCTL_TEST_HASTE ?? 1));
}

/** @param factor divides every default timing, except the one that the server's clock measures */
export function acceleratedTimings(factor: number): BatchTimings {
  const timings = Object.entries(defaultBatchTimings).map(([name, ms]) => [name, ms / factor]);
  // The server's clock is not accelerated.
  return {
    ...defaultBatchTimings,
    ...Object.fromEntries(timings),
    maxCreationSpread: defaultBatchTimings.maxCreationSpread,
  };
}
