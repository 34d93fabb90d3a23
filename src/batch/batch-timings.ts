declare const __TEST_BUILD__: boolean | undefined;

/** How long a batch waits for what, in milliseconds; a test passes small ones. */
export interface BatchTimings {
  /** From the end of a connection to the first lookup that can say "not there". */
  readonly settleDelay: number;
  /** Between two lookups. */
  readonly lookupInterval: number;
  /** A group that is there in part is looked for so long. */
  readonly partialLimit: number;
  /** Droplets of one request are created within this time of each other. */
  readonly maxCreationSpread: number;
  /** An overdue answer is awaited so long on its open connection. */
  readonly responseLimit: number;
  /** All droplets were found while the answer is awaited: so long it may still decide. */
  readonly responseGrace: number;
  /** Requests in flight are awaited so long after an interruption. */
  readonly interruptLimit: number;
  /** A longer wait for the rate limit ends the run. */
  readonly maxPause: number;
  /** Between two looks of `--wait`. */
  readonly pollInterval: number;
}

export const defaultBatchTimings: BatchTimings = {
  settleDelay: 15_000,
  lookupInterval: 15_000,
  partialLimit: 60_000,
  maxCreationSpread: 60_000,
  responseLimit: 300_000,
  responseGrace: 10_000,
  interruptLimit: 10_000,
  maxPause: 900_000,
  pollInterval: 5_000,
};

/** The waits of a run. In a test build `CLOUDCTL_TEST_HASTE=100` makes them a hundredth; the product knows no such variable. */
export function batchTimingsFor(env: Readonly<Record<string, string | undefined>>): BatchTimings {
  if (typeof __TEST_BUILD__ === 'undefined' || !__TEST_BUILD__) return defaultBatchTimings;
  return acceleratedTimings(Number(env.CLOUDCTL_TEST_HASTE ?? 1));
}

export function acceleratedTimings(haste: number): BatchTimings {
  const {
    settleDelay: settle,
    lookupInterval: apart,
    partialLimit: partial,
    maxCreationSpread: together,
    responseLimit: answer,
    responseGrace: grace,
    interruptLimit: interrupt,
    maxPause: pause,
    pollInterval: poll,
  } = defaultBatchTimings;
  return {
    settleDelay: settle / haste,
    lookupInterval: apart / haste,
    partialLimit: partial / haste,
    // Of the server's clock.
    maxCreationSpread: together,
    responseLimit: answer / haste,
    responseGrace: grace / haste,
    interruptLimit: interrupt / haste,
    maxPause: pause / haste,
    pollInterval: poll / haste,
  };
}
