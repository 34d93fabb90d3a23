declare const __TEST_BUILD__: boolean | undefined;

/** How long a batch waits for what, in milliseconds; a test passes small ones. */
export interface Waits {
  /** From the end of a connection to the first lookup that can say "not there". */
  readonly settle: number;
  /** Between two lookups. */
  readonly apart: number;
  /** A group that is there in part is looked for so long. */
  readonly partial: number;
  /** Droplets of one request are created within this time of each other. */
  readonly together: number;
  /** An overdue answer is awaited so long on its open connection. */
  readonly answer: number;
  /** All droplets were found while the answer is awaited: so long it may still decide. */
  readonly grace: number;
  /** Requests in flight are awaited so long after an interruption. */
  readonly interrupt: number;
  /** A longer wait for the rate limit ends the run. */
  readonly pause: number;
  /** Between two looks of `--wait`. */
  readonly poll: number;
}

export const waits: Waits = {
  settle: 15_000,
  apart: 15_000,
  partial: 60_000,
  together: 60_000,
  answer: 300_000,
  grace: 10_000,
  interrupt: 10_000,
  pause: 900_000,
  poll: 5_000,
};

/** The waits of a run. In a test build `CLOUDCTL_TEST_HASTE=100` makes them a hundredth; the product knows no such variable. */
export function waitsHere(env: Readonly<Record<string, string | undefined>>): Waits {
  if (typeof __TEST_BUILD__ === 'undefined' || !__TEST_BUILD__) return waits;
  return hastened(Number(env.CLOUDCTL_TEST_HASTE ?? 1));
}

export function hastened(haste: number): Waits {
  const { settle, apart, partial, together, answer, grace, interrupt, pause, poll } = waits;
  return {
    settle: settle / haste,
    apart: apart / haste,
    partial: partial / haste,
    // Of the server's clock.
    together,
    answer: answer / haste,
    grace: grace / haste,
    interrupt: interrupt / haste,
    pause: pause / haste,
    poll: poll / haste,
  };
}
