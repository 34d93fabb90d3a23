import type { Sighting } from './sighting.ts';

/** What one look leads to. */
export interface Step<M> {
  readonly memory: M;
  readonly sighting: Sighting;
  /** Looks in a row with nothing left to replicate. */
  readonly idle: number;
  /** Nothing will ever come of the migration again. */
  readonly ending?: Ending;
}

export interface Ending {
  readonly message: string;
  readonly hint: string;
}
