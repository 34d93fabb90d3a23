import type { connect as connectPostgres } from '../postgresql/connection.ts';
import type { PostgresSource } from '../postgresql/source.ts';
import type { connect as connectRedis } from '../redis/connection.ts';
import type { RedisSource } from '../redis/source.ts';
import type { Journal } from './journal.ts';
import type { SchemaCopy } from './schema-copy.ts';

interface Order {
  /** A UUID; the names of what is made on source and target come from it. */
  readonly id: string;
  /** Milliseconds of the virtual clock; from then on it is stopped (`max_duration`). */
  readonly deadline: number;
  /** Ends `done` once everything was copied and nothing was left to replicate for a minute of the virtual clock. */
  readonly finishWhenIdle: boolean;
}

export interface PostgresJob extends Order {
  readonly engine: 'postgresql';
  readonly source: PostgresSource;
  readonly target: PostgresSource;
  readonly ignoreDbs: readonly string[];
  /** `dump`: replication is not even tried; absent: it is, and dumped where the source does not allow it. */
  readonly method?: 'continuous' | 'dump';
}

export interface RedisJob extends Order {
  readonly engine: 'redis';
  readonly source: RedisSource;
  readonly target: RedisSource;
}

export type MigrationJob = PostgresJob | RedisJob;

/** The way to the machine and to the neighbours. */
export interface EnginePorts {
  /** Milliseconds of the virtual clock: deadlines and idle time are told by it. */
  readonly now: () => number;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly random: (bytes: number) => Uint8Array;
  readonly journal: Journal;
  readonly schemaCopy: SchemaCopy;
  readonly connectPostgres: typeof connectPostgres;
  readonly connectRedis: typeof connectRedis;
  readonly waits: Waits;
}

/** Real milliseconds, but for `idle`. */
export interface Waits {
  /** Between two looks at source and target. */
  readonly poll: number;
  /** To open a session. */
  readonly connect: number;
  /** An outage may last so long. */
  readonly patience: number;
  /** To remove what was made, per database. */
  readonly removal: number;
  /** Of the virtual clock: nothing to replicate for so long is the end. */
  readonly idle: number;
  /** Databases that are set up, or dumped, at once. */
  readonly parallel: number;
}

export const usualWaits: Waits = {
  poll: 1000,
  connect: 10_000,
  patience: 120_000,
  removal: 20_000,
  idle: 60_000,
  parallel: 4,
};

export type StopReason = 'stopped_by_user' | 'max_duration' | 'interrupted';

/** The process is about to end: what can wait is left, what must be removed is not. */
export function isInterrupted(stop: AbortSignal): boolean {
  return (
    stop.aborted && stop.reason instanceof DOMException && stop.reason.message === ('interrupted' satisfies StopReason)
  );
}
