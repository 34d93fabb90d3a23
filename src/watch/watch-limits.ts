/** How long, in milliseconds unless told, and how much something must be seen before it is called by its name. */
export interface WatchLimits {
  /** An inactive slot of a target that cannot connect. */
  readonly inactiveSlot: number;
  /** An apply that fails again and again; the service names it within 75 s. */
  readonly failingApply: number;
  /** Attempts of a target that fail on the same change. */
  readonly failedAttempts: number;
  /** Without any copy between the tables; workers of a target start five seconds apart. */
  readonly copyPause: number;
  /** Without an answer of the source, until it counts as gone. */
  readonly unreachable: number;
  /** Between two looks at the door: a new connection, the name, the certificate. */
  readonly probeInterval: number;
  /** How long a restart of the source is told. */
  readonly restartNotice: number;
  /** Between two measurings of tables. */
  readonly sizeInterval: number;
  /** What one look may take. */
  readonly pollTimeout: number;
  /** Samples in a row with nothing left to replicate. */
  readonly idlePolls: number;
  /** Bytes that count as keeping up. */
  readonly streamingLag: number;
  /** The longest pause between attempts to reach the source. */
  readonly maxBackoff: number;
}

export const defaultWatchLimits: WatchLimits = {
  inactiveSlot: 60_000,
  failingApply: 40_000,
  failedAttempts: 3,
  copyPause: 12_000,
  unreachable: 60_000,
  probeInterval: 30_000,
  restartNotice: 300_000,
  sizeInterval: 60_000,
  pollTimeout: 10_000,
  idlePolls: 5,
  streamingLag: 16 * 1024 ** 2,
  maxBackoff: 30_000,
};

/** Milliseconds of samples that judges may look back on. */
export function sampleRetention({ inactiveSlot, failingApply }: WatchLimits): number {
  return Math.max(inactiveSlot, 3 * failingApply) * 1.5;
}
