import type { ConnectionProbe } from '../probe.ts';

/** The facts that one poll reads about the whole server. */
export interface ServerFacts {
  /** Time of the poll in milliseconds since the epoch, by the clock of this machine. */
  readonly at: number;
  readonly version: number;
  /** Start time of the server, as the server formats it. */
  readonly startedAt: string;
  readonly inRecovery: boolean;
  /** Current WAL position in bytes; undefined in recovery. */
  readonly walPosition: number | undefined;
  readonly slots: readonly SlotFacts[];
  readonly senders: readonly WalSender[];
  readonly copies: readonly CopyProgress[];
  /** Databases that pg_dump is reading. */
  readonly dumps: readonly string[];
  readonly settings: ReadonlyMap<string, SettingFacts>;
  /** Lines of pg_hba_file_rules; undefined: the role may not read it. */
  readonly hbaRuleLines: readonly string[] | undefined;
  readonly role: RoleFacts | undefined;
  readonly databases: readonly TransactionCounts[];
  /** Number of commits that wait for a synchronous standby, and the longest wait in seconds. */
  readonly blocked: { readonly commits: number; readonly seconds: number };
  /** Ids of queries that failed, because the role may not run them, or because they timed out. */
  readonly denied: readonly string[];
  /** Result of the last new connection; undefined if there was none yet. */
  readonly connection: ConnectionProbe | undefined;
}

export interface SlotFacts {
  readonly name: string;
  readonly plugin: string | undefined;
  readonly database: string | undefined;
  readonly temporary: boolean;
  readonly active: boolean;
  readonly pid: number | undefined;
  /** WAL position in bytes that the target has confirmed; undefined for a physical slot. */
  readonly flushed: number | undefined;
  /** Bytes of WAL that the slot retains. */
  readonly retained: number | undefined;
  /** pg_replication_slots.wal_status: `reserved`, `extended`, `unreserved`, `lost` (PostgreSQL 13 and later). */
  readonly walStatus: string | undefined;
  /**
   * Bytes of WAL until the slot is lost; undefined if there is no limit, or if this version of PostgreSQL does not report
   * the number.
   */
  readonly safeWalBytes: number | undefined;
  /**
   * inactive_since as the server formats it (PostgreSQL 17 and later); it changes with every failed attempt of the
   * target.
   */
  readonly inactiveSince: string | undefined;
  /** invalidation_reason: why the slot cannot be used any more (PostgreSQL 17 and later). */
  readonly invalidated: string | undefined;
  /** Number of transactions decoded for the slot, including failed attempts (PostgreSQL 14 and later). */
  readonly decoded: number | undefined;
}

export interface WalSender {
  readonly pid: number;
  readonly database: string | undefined;
  /** application_name of the WAL sender, for which a subscription uses its own name. */
  readonly application: string;
  /** State of the WAL sender: `startup` while a table is copied, then `catchup` and `streaming`. */
  readonly state: string;
  readonly address: string | undefined;
  /** The replication command that the WAL sender runs. */
  readonly command: string;
  /**
   * Seconds since the last message of the target; undefined up to PostgreSQL 11, or if the target has not sent a message
   * yet.
   */
  readonly replyAge: number | undefined;
  /** Seconds since the target connected; undefined if the role may not see it. */
  readonly connectedFor?: number | undefined;
}

export interface CopyProgress {
  readonly pid: number;
  readonly database: string;
  /** Oid of the table (PostgreSQL 14 and later), else the name in the COPY statement. */
  readonly table: number | string;
  readonly rows: number;
  readonly bytes: number;
  /** Whether pg_dump runs the COPY. */
  readonly dump: boolean;
}

export interface SettingFacts {
  readonly value: string;
  readonly pendingRestart: boolean;
  /**
   * The value in the configuration files; undefined if the files do not contain the setting, or if the role may not read the
   * files.
   */
  readonly inFile: string | undefined;
}

export interface RoleFacts {
  readonly name: string;
  readonly superuser: boolean;
  readonly replication: boolean;
  readonly login: boolean;
  /** Seconds until the password expires; undefined if it never expires. */
  readonly secondsLeft: number | undefined;
  /**
   * xmin of the row of the role, which changes when the role or its password is altered; undefined if the role may not
   * read it.
   */
  readonly revision: string | undefined;
  /** Stored settings that end statements of the role's sessions. */
  readonly timeouts: readonly StoredTimeout[];
}

/** A timeout that is stored for a role, for a database, or for a role in one database. */
export interface StoredTimeout {
  /** For example `statement_timeout=1s`. */
  readonly setting: string;
  /** Whether the timeout is stored for the role; false: it is stored for all roles in the database. */
  readonly isOfRole: boolean;
  /** The database to which the timeout is limited; undefined if the timeout applies in every database. */
  readonly database: string | undefined;
}

export interface TransactionCounts {
  readonly name: string;
  readonly commits: number;
  readonly rollbacks: number;
}

/** The facts that one poll reads about one database. */
export interface DatabaseFacts {
  readonly name: string;
  readonly tables: readonly TableStatistics[];
  readonly publications: ReadonlyMap<string, string>;
  /** The table definitions; undefined if this poll did not read them. */
  readonly shapes: TableDefinitions | undefined;
  /** The columns of the tables whose columns this poll was to read, by `schema.table`. */
  readonly columns: ReadonlyMap<string, readonly ColumnDefinition[]>;
  readonly sizes: ReadonlyMap<number, number> | undefined;
  readonly denied: readonly string[];
}

export interface TableStatistics {
  readonly oid: number;
  /** `schema.table`. */
  readonly name: string;
  readonly seqScans: number;
  readonly seqRows: number;
  /** Estimated live rows. */
  readonly rows: number;
  readonly changed: number;
  readonly inserted: number;
  /** Seconds since the last sequential scan, as a COPY is one; undefined before PostgreSQL 16, and if there was none. */
  readonly scanAge?: number | undefined;
}

/** Table definitions by `schema.table`, because logical replication finds a table of the target by its name. */
export type TableDefinitions = ReadonlyMap<string, TableDefinition>;

export interface TableDefinition {
  readonly schema: string;
  readonly table: string;
  /** Hash of the column definitions of the table. */
  readonly columns: string;
  /** relreplident: `d` default, `i` index, `f` full, `n` nothing. */
  readonly identity: string;
  /** Columns of the index that is the replica identity. */
  readonly keyColumns: readonly string[];
  /** Whether logical replication can replicate UPDATE and DELETE of the table. */
  readonly hasReplicaIdentity: boolean;
}

export interface ColumnDefinition {
  readonly name: string;
  /** The data type of the column, as format_type prints it. */
  readonly type: string;
  readonly notNull: boolean;
}

/** The error of a poll that could not reach the source. */
export interface PostgresOutage {
  readonly at: number;
  /** The error code: an SQLSTATE, a code of the operating system, or a code of ConnectError. */
  readonly code: string;
  readonly reason: string;
}

export type PostgresPoll =
  | {
      readonly kind: 'seen';
      readonly server: ServerFacts;
      readonly databases: ReadonlyMap<string, DatabaseFacts>;
    }
  | { readonly kind: 'outage'; readonly outage: PostgresOutage };
