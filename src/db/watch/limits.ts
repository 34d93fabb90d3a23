/** Thresholds of the watch, in milliseconds unless stated otherwise. */
export interface WatchLimits {
  /** How long the target has confirmed nothing before a change on the source counts as the cause. */
  readonly suspectedStop: number;
  /**
   * How long a connected target does not respond before it counts as blocked; a target that is not blocked responds at least
   * every 30 s.
   */
  readonly silentReply: number;
  /** How long a slot is inactive before the target counts as disconnected. */
  readonly inactiveSlot: number;
  /** How long the target applies no changes before replication counts as failing. */
  readonly failingApply: number;
  /** Number of attempts of the target to replicate after which replication counts as failing. */
  readonly failedAttempts: number;
  /** Longest pause between the copies of two tables; workers of a target start five seconds apart. */
  readonly copyPause: number;
  /** Time without a response of the source before the source counts as unreachable. */
  readonly unreachable: number;
  /** Interval between two new connections that test login, DNS and certificate. */
  readonly probeInterval: number;
  /** Time for which the watch reports a restart of the source. */
  readonly restartNotice: number;
  /** How long after the start of a migration its slot may be missing. */
  readonly missingSlot: number;
  /** Interval between two measurements of table sizes. */
  readonly sizeInterval: number;
  /** Time limit of one poll. */
  readonly pollTimeout: number;
  /**
   * Milliseconds after which a write must have reached the target, so that the target counts as caught up; a Redis replica
   * acknowledges once a second.
   */
  readonly caughtUpDelay: number;
  /** Number of consecutive polls that decide that nothing is left to replicate, or that the target has caught up. */
  readonly idlePolls: number;
  /** Maximum lag in bytes at which the phase is still streaming. */
  readonly streamingLag: number;
  /** Longest pause between attempts to connect to the source. */
  readonly maxBackoff: number;
}

export const watchLimits: WatchLimits = {
  suspectedStop: 10_000,
  silentReply: 35_000,
  inactiveSlot: 45_000,
  failingApply: 30_000,
  failedAttempts: 3,
  copyPause: 12_000,
  unreachable: 60_000,
  probeInterval: 30_000,
  restartNotice: 300_000,
  missingSlot: 45_000,
  sizeInterval: 60_000,
  pollTimeout: 10_000,
  caughtUpDelay: 3000,
  idlePolls: 5,
  streamingLag: 16 * 1024 ** 2,
  maxBackoff: 30_000,
};

/** Period in milliseconds for which samples are kept, because rules need them. */
export function retentionMs({ inactiveSlot, failingApply }: WatchLimits): number {
  return Math.max(inactiveSlot, 3 * failingApply) * 1.5;
}
