import type { PostgresServer } from './postgres.d.mts';

/** A migration that streams. */
export interface AccidentPlace {
  readonly source: PostgresServer;
  readonly target: PostgresServer;
  readonly database: string;
  /** Of the slot, the publication and the subscription. */
  readonly name: string;
}

export interface ExpectedCause {
  readonly rule: string;
  /** `NAME` is the name of the slot; undefined: any. */
  readonly object: string | undefined;
}

export interface Accident {
  readonly id: string;
  /** What the source alone shows. */
  readonly source: ExpectedCause;
  /** What the source alone shows to a watch that began after the accident, if that is something else. */
  readonly later?: ExpectedCause;
  /** What the log of the target and the status of the service show; absent: the same. */
  readonly reported?: ExpectedCause;
  /** Before the migration starts; resolves with what removes it. */
  readonly prepare?: (place: Pick<AccidentPlace, 'target'>) => Promise<() => unknown>;
  /** Causes it. Resolves with what removes the cause, where that is possible. */
  readonly begin: (place: AccidentPlace) => Promise<(() => unknown) | undefined>;
}

export const accidents: readonly Accident[];
export const accidentTables: string;
export const logSettings: Readonly<Record<string, string>>;
