import type { StatusSample } from './status-sample.ts';

/** The result of tracking one poll. */
export interface TrackingResult<M> {
  readonly state: M;
  readonly sample: StatusSample;
  /** Number of consecutive polls in which nothing was left to replicate. */
  readonly idlePolls: number;
  /** Why the migration cannot continue; absent while it can. */
  readonly ending?: MigrationEnd;
}

export interface MigrationEnd {
  readonly message: string;
  readonly hint: string;
}
