import type { StatusSample } from './status-sample.ts';

/** What one look leads to. */
export interface TrackingResult<M> {
  readonly state: M;
  readonly sample: StatusSample;
  /** Looks in a row with nothing left to replicate. */
  readonly idlePolls: number;
  /** Nothing will ever come of the migration again. */
  readonly ending?: MigrationEnd;
}

export interface MigrationEnd {
  readonly message: string;
  readonly hint: string;
}
