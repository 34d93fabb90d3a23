/** How long, in milliseconds unless told, and how much something must be seen before it is called by its name. */
export interface Limits {
  /** An inactive slot of a target that cannot connect. */
  readonly inactive: number;
  /** An apply that fails again and again; the service names it within 75 s. */
  readonly stuck: number;
  /** Attempts of a target that fail on the same change. */
  readonly attempts: number;
  /** Without any copy between the tables; workers of a target start five seconds apart. */
  readonly quiet: number;
  /** Without an answer of the source, until it counts as gone. */
  readonly gone: number;
  /** Between two looks at the door: a new connection, the name, the certificate. */
  readonly door: number;
  /** How long a restart of the source is told. */
  readonly restart: number;
  /** Between two measurings of tables. */
  readonly sizes: number;
  /** What one look may take. */
  readonly poll: number;
  /** Samples in a row with nothing left to replicate. */
  readonly idle: number;
  /** Bytes that count as keeping up. */
  readonly lag: number;
  /** The longest pause between attempts to reach the source. */
  readonly backoff: number;
}

export const usual: Limits = {
  inactive: 60_000,
  stuck: 40_000,
  attempts: 3,
  quiet: 12_000,
  gone: 60_000,
  door: 30_000,
  restart: 300_000,
  sizes: 60_000,
  poll: 10_000,
  idle: 5,
  lag: 16 * 1024 ** 2,
  backoff: 30_000,
};

/** Milliseconds of samples that judges may look back on. */
export function lookBack({ inactive, stuck }: Limits): number {
  return Math.max(inactive, 3 * stuck) * 1.5;
}
