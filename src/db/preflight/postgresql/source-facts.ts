import type { AuthMethod } from '../../../postgresql/connection.ts';
import { parseMajorVersion, toMajorVersion } from '../../../postgresql/version.ts';
import type { AddressFacts, TlsFacts } from '../network/addresses.ts';
import type { PreflightOptions } from '../options.ts';
import type { DatabaseScan } from './deep/results.ts';
import type { CatalogLock } from './queries/activity.ts';
import type { InstanceIdentity } from './queries/cluster.ts';
import type { WalVolume } from './queries/replication.ts';
import type { DumpLocks, SizeSummary, TableSize } from './queries/tables.ts';

/** Facts about a PostgreSQL source besides the query results. */
export interface PostgresqlFacts {
  /** The database that the first connection was made to. */
  readonly dbname: string;
  readonly username: string;
  readonly address: AddressFacts;
  readonly tls: TlsFacts;
  readonly connection: PostgresqlConnectionResult;
  /**
   * The databases to be migrated: all but template0, template1 and the ignored ones. The list is empty if no connection
   * was made.
   */
  readonly databases: readonly string[];
  /** The result of the connection to each database; a database is missing until a connection to it was tried. */
  readonly access: ReadonlyMap<string, DatabaseAccess>;
  /**
   * The total size of the tables that the initial copy reads, in all databases. The copy size is known only to checks
   * of the server, because they are evaluated last.
   */
  readonly copy: CopySize | undefined;
  /**
   * The WAL rate from two readings of the WAL position, known only to checks of the server; undefined in recovery, or
   * if it could not be measured.
   */
  readonly walRate: WalRate | undefined;
  /** The result of a connection with the replication protocol (IDENTIFY_SYSTEM); undefined if none was tried. */
  readonly replication: ReplicationResult | undefined;
  /**
   * The results of reading all rows, by database; absent if `--deep` was not given, or before the reading. A database
   * that was not reached is missing.
   */
  readonly scans?: ReadonlyMap<string, DatabaseScan> | undefined;
  /** Why the connection ended before all server queries had a result; absent if every query has a result. */
  readonly lost?: string | undefined;
}

export type PostgresqlConnectionResult =
  | ConnectedFacts
  /** `code` is an SQLSTATE or an error of the system; `message` is the server's, sanitized. */
  | {
      readonly kind: 'refused';
      readonly code: string;
      readonly message: string;
      /** Why the login can only have been refused by a connection pooler. */
      readonly pooler?: string | undefined;
      /** What further connections showed about the server, after a login that received no response. */
      readonly silence?: LoginDiagnosis;
      /** Whether the login succeeded and the first statement was refused. */
      readonly asked?: true;
    }
  | { readonly kind: 'unreachable'; readonly code: string; readonly message: string };

/** What further connections show about a server that did not finish a login. */
export interface LoginDiagnosis {
  /**
   * Whether the server responds to the request for TLS (SSLRequest), which needs no catalog, so that its process runs.
   */
  readonly answersTlsRequest: boolean;
  /** Locks that block logins to the database, read on a connection to another database. */
  readonly locks: readonly CatalogLock[];
}

export interface ConnectedFacts {
  readonly kind: 'entered';
  /** server_version_num. */
  readonly version: number;
  /** The result of `version()`, sanitized; other products than PostgreSQL also implement the protocol. */
  readonly versionText: string;
  readonly inRecovery: boolean;
  readonly superuser: boolean;
  /**
   * Evidence of a connection pooler: BackendKeyData and pg_backend_pid() report different processes, or the pooler
   * reports its own version. undefined for a direct connection.
   */
  readonly pooler: string | undefined;
  /**
   * The message, sanitized, with which a pooler rejected the settings of the startup message; undefined if they are in
   * force.
   */
  readonly startupRefusal: string | undefined;
  readonly ssl: boolean;
  /** The authentication method with which the server requested the password. */
  readonly authentication: AuthMethod;
  /** The port that the server listens on; behind a port forwarder it differs from the port of the connection. */
  readonly serverPort: number | undefined;
}

export type DatabaseAccess =
  | {
      readonly kind: 'entered';
      /** The server instance that the connection reached; undefined if the role cannot read its properties. */
      readonly instance?: InstanceIdentity | undefined;
      /** Why the connection ended, for the second time, before all queries of the database had a result. */
      readonly broken?: string;
    }
  /** No connection was tried: the catalog shows that it would be refused. */
  | { readonly kind: 'closed' }
  /** The server refused the connection to this database. */
  | { readonly kind: 'refused'; readonly code: string; readonly message: string }
  /** The server did not respond, or the connection was lost. */
  | {
      readonly kind: 'lost';
      readonly message: string;
      /** Locks on system catalogs that block logins to the database. */
      readonly locks?: readonly CatalogLock[];
    };

export interface CopySize {
  /** Bytes of the tables of all measured databases, without indexes. */
  readonly bytes: number;
  readonly tables: number;
  /** The largest table, whose copy is a lower bound of the duration, because one worker copies a whole table. */
  readonly largest: { readonly database: string; readonly table: string; readonly bytes: number } | undefined;
  readonly perDatabase: ReadonlyMap<string, DatabaseCopySize>;
  /** Databases whose table sizes are not known. */
  readonly unseen: readonly string[];
}

export interface DatabaseCopySize {
  readonly bytes: number;
  readonly tables: number;
  readonly largest: { readonly table: string; readonly bytes: number } | undefined;
  readonly locks: DumpLocks;
}

export interface WalRate {
  readonly bytes: number;
  readonly seconds: number;
  /** The server instance that returned the second reading of the WAL position. */
  readonly instance?: InstanceIdentity | undefined;
}

export type ReplicationResult =
  | {
      readonly kind: 'entered';
      /**
       * The server instance that the replication connection reached; undefined if the role cannot read its properties.
       */
      readonly instance?: InstanceIdentity | undefined;
    }
  | { readonly kind: 'refused'; readonly code: string; readonly message: string };

/** server_version_num; 0 when no connection was made. */
export function sourceVersionNumber({ connection }: PostgresqlFacts): number {
  return connection.kind === 'entered' ? connection.version : 0;
}

/** The major version of the target as server_version_num; undefined if it was not given, or is not a version. */
export function targetVersionNumber({ targetVersion }: Pick<PreflightOptions, 'targetVersion'>): number | undefined {
  return targetVersion === undefined ? undefined : parseMajorVersion(targetVersion);
}

/** Whether the target has another major version than the source, or a version that is not known. */
export function isOtherMajor(facts: PostgresqlFacts, options: Pick<PreflightOptions, 'targetVersion'>): boolean {
  return targetVersionNumber(options) !== toMajorVersion(sourceVersionNumber(facts));
}

/**
 * The higher of the measured WAL rate and the average WAL rate since the statistics were reset. A measurement of less
 * than one second is used only if there is no average, because a single WAL record may be most of it.
 */
export function estimateWalRate(sample: WalRate | undefined, history: WalVolume | undefined): number {
  const now = sample === undefined || sample.seconds <= 0 ? 0 : sample.bytes / sample.seconds;
  const average = history === undefined || history.seconds < 3600 ? undefined : history.bytes / history.seconds;
  return average !== undefined && (sample?.seconds ?? 0) < 1 ? average : Math.max(now, average ?? 0);
}

/** Bytes per second that one replication worker copies over the internet: the lowest and the highest measured rate. */
export const workerCopyRate = { slow: 20e6, fast: 50e6 } as const;

/**
 * Seconds that a table costs even without rows: its worker connects, creates a slot and catches up. 3,000 empty
 * partitions took 104 s on one machine; a connection over the internet needs several times that.
 */
export const tableSeconds = { fast: 0.02, slow: 0.15 } as const;

/** Seconds after which a migration stops by itself (docs/service.md S9.8). */
export const maxMigrationSeconds = 14 * 86_400;

/** Seconds. */
interface CopyTime {
  readonly low: number;
  readonly high: number;
}

/** Estimates the time of the initial copy: one worker copies each table, and two workers run at a time. */
export function estimateCopyTime({ bytes, tables, largest }: Pick<CopySize, 'bytes' | 'tables' | 'largest'>): CopyTime {
  const secondsAt = (speed: 'fast' | 'slow') => {
    const rate = workerCopyRate[speed];
    return Math.max((largest?.bytes ?? 0) / rate, bytes / (2 * rate)) + tables * tableSeconds[speed];
  };
  return { low: secondsAt('fast'), high: secondsAt('slow') };
}

export function sumSizes(databases: readonly string[], sizes: ReadonlyMap<string, SizeSummary>): CopySize {
  const perDatabase = new Map<string, DatabaseCopySize>();
  let bytes = 0;
  let tables = 0;
  let largest: CopySize['largest'];
  for (const database of databases) {
    const size = sizes.get(database);
    if (size === undefined) continue;
    const [first] = size.largest;
    perDatabase.set(database, {
      bytes: size.bytes,
      tables: size.tables,
      largest: first === undefined ? undefined : { table: first.table, bytes: first.bytes },
      locks: size.locks,
    });
    bytes += size.bytes;
    tables += size.tables;
    if (first !== undefined && first.bytes >= (largest?.bytes ?? 0)) {
      largest = { database, table: first.table, bytes: first.bytes };
    }
  }
  return { bytes, tables, largest, perDatabase, unseen: databases.filter((name) => !sizes.has(name)) };
}

/** The largest tables of all databases, largest first, at most 20. */
export function largestTables(sizes: ReadonlyMap<string, SizeSummary>): readonly TableSize[] {
  return [...sizes]
    .flatMap(([database, { largest }]) => largest.map((table) => ({ ...table, database })))
    .sort((a, b) => b.bytes - a.bytes || a.table.localeCompare(b.table))
    .slice(0, 20);
}
