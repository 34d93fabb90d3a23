import type { RunKeys } from '../watch/index.ts';
import type { WriteActivity } from './activity.ts';

/** Both servers of a migration, with connections that stay open until the cut-over is done. */
export interface Pair {
  /** One observation of both servers. It is cheap, and changes nothing. */
  look(): Promise<Sighting>;
  /** What differs between the sequences of both servers; nothing for Redis. */
  sequences(): Promise<SequenceWork>;
  /** Sets the sequences of the target. Rejects with a `TargetRefusal` when the target refuses a statement. */
  setSequences(work: SequenceWork): Promise<void>;
  /** How to keep sessions from writing to the source, or the reason why no way is known. */
  fence(): Promise<Fence | string>;
  /** What the target reads from the source, or has read since the pair was opened, as nouns. */
  leftovers(): Promise<readonly string[]>;
  /** Slots that the target has read since the pair was opened; the removal of each is a transaction of the source. */
  readonly slots: number;
  /**
   * Counters of changed rows of each table (`schema.table`) of the source, by database; undefined for Redis, which counts no
   * single keys.
   */
  changes(): Promise<ReadonlyMap<string, ReadonlyMap<string, number>> | undefined>;
  close(): Promise<void>;
}

export interface Sighting {
  readonly activity: WriteActivity;
  /** Changes of rows that the statistics of the source have counted; for Redis, the keys that the target has evicted. */
  readonly changes: number | undefined;
  /** Sessions of others that could write, as texts. */
  readonly sessions: readonly string[];
  readonly delivery: Delivery;
  /** The keys of this run of the source (Redis). */
  readonly runKeys?: RunKeys | undefined;
}

/**
 * Whether the target has confirmed everything that was written before the source was first seen at rest. `unseen`: the target
 * shows no link to the source, so it cannot say what it has received.
 */
export interface Delivery {
  readonly state: 'received' | 'behind' | 'unseen';
  readonly observed: string;
  /** Whether nothing arrives at the target, so that the end of writes would not help. */
  readonly isBroken?: boolean;
}

export interface SequenceDifferences {
  /** `database: schema.sequence`, with what is known about it. */
  readonly differences: readonly string[];
  /** Those of them whose value on the target is the higher one: an application has used it there, and would get it again if they were set back. */
  readonly ahead: readonly string[];
}

export interface SequenceWork extends SequenceDifferences {
  /** Statements for the target, by database. */
  readonly statements: ReadonlyMap<string, readonly string[]>;
}

/** Shell commands that keep sessions from writing to the source, and those that undo it. They contain no password. */
export interface Fence {
  readonly commands: readonly string[];
  readonly undo: readonly string[];
  /** What the fence does not keep out. */
  readonly limits: string;
}

/** The target refused a statement. */
export class TargetRefusal extends Error {
  override readonly name = 'TargetRefusal';
  readonly database: string;
  readonly statement: string;

  constructor(database: string, statement: string, reason: string) {
    super(reason);
    this.database = database;
    this.statement = statement;
  }
}

export interface PairOptions {
  readonly ignoreDbs: readonly string[];
  readonly signal: AbortSignal;
}

/**
 * Remembers the position of the source at the first observation without a new write, so that one confirmation of this position
 * by the target proves that it has received every write.
 */
export class RestPosition {
  #since: string | undefined;
  #position: number | undefined;

  /** The position that the target has to confirm, after an observation of the source. */
  after({ counter, since, open }: WriteActivity, position: number): number {
    const state = `${since} ${counter}`;
    if (this.#since !== state || this.#position === undefined) this.#position = position;
    // A transaction that has not ended is written when it ends.
    this.#since = open.length === 0 ? state : undefined;
    return this.#position;
  }
}
