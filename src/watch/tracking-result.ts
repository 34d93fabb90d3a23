import type { StatusSample } from './status-sample.ts';

/** The result of tracking one poll. */
export interface TrackingResult<M> {
  readonly state: M;
  readonly sample: StatusSample;
  /** Consecutive polls with nothing left to replicate. */
  readonly idlePolls: number;
  /** Present when the migration cannot continue. */
  readonly ending?: MigrationEnd;
}

export interface MigrationEnd {
  readonly message: string;
  readonly hint: string;
}
