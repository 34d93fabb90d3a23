import type { MigrationStatusSample } from './status-sample.ts';

/** The result of tracking one poll. */
export interface WatchPollResult<M> {
  readonly state: M;
  readonly sample: MigrationStatusSample;
  /** Number of consecutive polls in which nothing was left to replicate. */
  readonly idlePolls: number;
  /** Number of consecutive polls in which the target had caught up, although the source may be written to. */
  readonly caughtUpPolls: number;
  /** Why the migration cannot continue; absent while it can. */
  readonly ending?: WatchedMigrationEnd;
}

export interface WatchedMigrationEnd {
  readonly message: string;
  readonly hint: string;
}
