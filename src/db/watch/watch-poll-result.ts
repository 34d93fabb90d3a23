import type { MigrationStatusSample } from './status-sample.ts';

/** What the watch knows after one poll of the source. */
export interface WatchPollResult<M> {
  readonly state: M;
  readonly sample: MigrationStatusSample;
  /** Number of consecutive polls in which nothing was left to replicate. */
  readonly idlePolls: number;
  /**
   * Number of consecutive polls in which the target had received all changes older than a limit, even if the source is still
   * written to.
   */
  readonly caughtUpPolls: number;
  /** Why the migration cannot continue; absent while it can. */
  readonly ending?: WatchedMigrationEnd;
}

export interface WatchedMigrationEnd {
  readonly message: string;
  readonly hint: string;
}
