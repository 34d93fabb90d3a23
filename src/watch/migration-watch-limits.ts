/** Thresholds of the watch: milliseconds, unless stated otherwise. */
export interface MigrationWatchLimits {
  /** How long a slot is inactive before the target counts as disconnected. */
  readonly inactiveSlot: number;
  /** How long apply makes no progress before it counts as failing; it must be reported within 75 s (spec.md). */
  readonly failingApply: number;
  /** Number of failed attempts of the target that count as failing. */
  readonly failedAttempts: number;
  /** Longest pause between the copies of two tables; workers of a target start five seconds apart. */
  readonly copyPause: number;
  /** How long the source does not answer before it counts as gone. */
  readonly unreachable: number;
  /** Interval between two new connections, which test login, DNS and certificate. */
  readonly probeInterval: number;
  /** How long a restart of the source is reported. */
  readonly restartNotice: number;
  /** Interval between two measurements of table sizes. */
  readonly sizeInterval: number;
  /** Time limit of one poll. */
  readonly pollTimeout: number;
  /** Number of consecutive polls with nothing left to replicate that count as idle. */
  readonly idlePolls: number;
  /** Largest lag in bytes that counts as streaming. */
  readonly streamingLag: number;
  /** Longest pause between attempts to reach the source. */
  readonly maxBackoff: number;
}

export const defaultMigrationWatchLimits: MigrationWatchLimits = {
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

/** Milliseconds of samples that the rules need. */
export function sampleRetentionMs({ inactiveSlot, failingApply }: MigrationWatchLimits): number {
  return Math.max(inactiveSlot, 3 * failingApply) * 1.5;
}
