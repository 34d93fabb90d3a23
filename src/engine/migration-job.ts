import type { connectPostgresql as connectPostgres } from '../postgresql/connection.ts';
import type { PostgresqlSource } from '../postgresql/source.ts';
import type { connectRedis } from '../redis/connection.ts';
import type { RedisSource } from '../redis/source.ts';
import type { MigrationJournal } from './migration-journal.ts';
import type { SchemaCopier } from './schema-copier.ts';

interface CommonJobFields {
  /** A UUID; the names of what is made on source and target come from it. */
  readonly id: string;
  /** Milliseconds of the virtual clock; from then on it is stopped (`max_duration`). */
  readonly deadline: number;
  /** Ends `done` once everything was copied and nothing was left to replicate for a minute of the virtual clock. */
  readonly finishWhenIdle: boolean;
}

export interface PostgresMigrationJob extends CommonJobFields {
  readonly engine: 'postgresql';
  readonly source: PostgresqlSource;
  readonly target: PostgresqlSource;
  readonly ignoreDbs: readonly string[];
  /** `dump`: replication is not even tried; absent: it is, and dumped where the source does not allow it. */
  readonly method?: 'continuous' | 'dump';
}

export interface RedisMigrationJob extends CommonJobFields {
  readonly engine: 'redis';
  readonly source: RedisSource;
  readonly target: RedisSource;
}

export type MigrationJob = PostgresMigrationJob | RedisMigrationJob;

/** The way to the machine and to the neighbours. */
export interface EngineDependencies {
  /** Milliseconds of the virtual clock: deadlines and idle time are told by it. */
  readonly now: () => number;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly random: (bytes: number) => Uint8Array;
  readonly journal: MigrationJournal;
  readonly schemaCopy: SchemaCopier;
  readonly connectPostgres: typeof connectPostgres;
  readonly connectRedis: typeof connectRedis;
  readonly limits: EngineLimits;
}

/** Real milliseconds, but for `idle`. */
export interface EngineLimits {
  /** Between two looks at source and target. */
  readonly pollInterval: number;
  /** To open a session. */
  readonly connectTimeout: number;
  /** An outage may last so long. */
  readonly outageTimeout: number;
  /** To remove what was made, per database. */
  readonly removalTimeout: number;
  /** Of the virtual clock: nothing to replicate for so long is the end. */
  readonly idleTime: number;
  /** Databases that are set up, or dumped, at once. */
  readonly parallelDatabases: number;
}

export const defaultEngineLimits: EngineLimits = {
  pollInterval: 1000,
  connectTimeout: 10_000,
  outageTimeout: 120_000,
  removalTimeout: 20_000,
  idleTime: 60_000,
  parallelDatabases: 4,
};

export type StopReason = 'stopped_by_user' | 'max_duration' | 'interrupted';

/** The process is about to end: what can wait is left, what must be removed is not. */
export function isStoppedByInterrupt(stop: AbortSignal): boolean {
  return (
    stop.aborted && stop.reason instanceof DOMException && stop.reason.message === ('interrupted' satisfies StopReason)
  );
}
