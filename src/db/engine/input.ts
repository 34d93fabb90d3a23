import { randomBytes } from 'node:crypto';
import { createLimit } from '../../platform/memory.ts';
import { systemClock } from '../../platform/waiting.ts';
import { type connectPostgresql as connectPostgres, connectPostgresql } from '../../postgresql/connection.ts';
import type { PostgresqlEndpoint } from '../../postgresql/endpoint.ts';
import { connectRedis } from '../../redis/connection.ts';
import type { RedisEndpoint } from '../../redis/endpoint.ts';
import type { EngineJournal } from './journal.ts';
import type { SchemaCopier } from './schema/target.ts';

interface CommonJobFields {
  /** A UUID. Id of the migration, from which the names of the publication, slot and subscription are derived. */
  readonly id: string;
  /** Time of the virtual clock, in milliseconds, at which the migration is stopped with the reason `max_duration`. */
  readonly deadline: number;
  /**
   * Whether the migration ends as `done` when all rows are copied and nothing was left to replicate for
   * `EngineLimits.idleTime`.
   */
  readonly finishWhenIdle: boolean;
}

export interface PostgresInput extends CommonJobFields {
  readonly engine: 'postgresql';
  readonly source: PostgresqlEndpoint;
  readonly target: PostgresqlEndpoint;
  /** Servers that must not be the source, under any name (default: none). The target must never be the source. */
  readonly managedServers?: readonly PostgresqlEndpoint[];
  readonly ignoreDbs: readonly string[];
  /**
   * `dump`: the rows are copied once, without replication; absent: replication is used, or a dump if the source does
   * not allow replication.
   */
  readonly method?: 'continuous' | 'dump';
  /**
   * Whether to create objects on the target that only a superuser can create; absent: a schema with such objects is not
   * copied.
   */
  readonly allowSuperuserObjects?: boolean | undefined;
}

export interface RedisInput extends CommonJobFields {
  readonly engine: 'redis';
  readonly source: RedisEndpoint;
  readonly target: RedisEndpoint;
  /** Servers that must not be the source, under any name (default: none). The target must never be the source. */
  readonly managedServers?: readonly RedisEndpoint[];
}

export type EngineInput = PostgresInput | RedisInput;

/** The clock, connections and storage of the engine; tests replace some of them. */
export interface EngineSystem {
  /** Milliseconds of the virtual clock, which decides deadlines and idle time. */
  readonly now: () => number;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly random: (bytes: number) => Uint8Array;
  readonly journal: EngineJournal;
  readonly schemaCopy: SchemaCopier;
  readonly connectPostgres: typeof connectPostgres;
  readonly connectRedis: typeof connectRedis;
  readonly limits: EngineLimits;
}

/** Time limits in milliseconds of real time, except `idleTime`. */
interface EngineLimits {
  /** Pause between two polls of source and target. */
  readonly pollInterval: number;
  /** Time limit for opening a session. */
  readonly connectTimeout: number;
  /** Time limit for an outage of a server; a longer outage ends the migration. */
  readonly outageTimeout: number;
  /** Time after the last error of a replication worker, after which the warning of failing workers is removed. */
  readonly failureMemory: number;
  /** Time without progress after which the target is queried for the cause. */
  readonly obstacleDelay: number;
  /** Time limit for removing the replication objects of one database. */
  readonly removalTimeout: number;
  /** Milliseconds of the virtual clock after which a migration that has nothing to replicate ends. */
  readonly idleTime: number;
  /** Number of databases whose schema, replication or dump is processed at the same time. */
  readonly parallelDatabases: number;
}

export const defaultLimits: EngineLimits = {
  pollInterval: 1000,
  connectTimeout: 10_000,
  outageTimeout: 120_000,
  failureMemory: 20_000,
  obstacleDelay: 5000,
  removalTimeout: 20_000,
  idleTime: 60_000,
  parallelDatabases: 4,
};

export type StopReason = 'stopped_by_user' | 'max_duration' | 'interrupted';

/**
 * True if the process is about to end: sequences and materialized views are then not copied, but created objects are
 * still removed.
 */
export function isInterrupted(stop: AbortSignal): boolean {
  return (
    stop.aborted && stop.reason instanceof DOMException && stop.reason.message === ('interrupted' satisfies StopReason)
  );
}

/** The engine dependencies of the real system: clock, random bytes and connections. */
export function engineSystem(
  given: Pick<EngineSystem, 'now' | 'journal' | 'schemaCopy'> & Partial<EngineSystem>,
): EngineSystem {
  const memory = createLimit('statement');
  return {
    sleep: systemClock.sleep,
    random: randomBytes,
    connectPostgres: (source, options) => connectPostgresql(source, { memory, ...options }),
    connectRedis,
    limits: defaultLimits,
    ...given,
  };
}
