import type { ConnectionProbe } from '../connection-probe.ts';

/** What one poll reads about the whole server. */
export interface ServerFacts {
  /** Milliseconds since the epoch, by the clock of this machine. */
  readonly at: number;
  readonly version: number;
  /** Start of the postmaster, as a text of the server. */
  readonly startedAt: string;
  readonly inRecovery: boolean;
  /** Current WAL position in bytes; undefined in recovery. */
  readonly walPosition: number | undefined;
  readonly slots: readonly ObservedSlot[];
  readonly senders: readonly ObservedWalSender[];
  readonly copies: readonly ObservedCopy[];
  /** Databases that pg_dump is reading. */
  readonly dumps: readonly string[];
  readonly settings: ReadonlyMap<string, ObservedSetting>;
  /** Hash of pg_hba_file_rules; undefined: the role may not read it. */
  readonly hostRules: string | undefined;
  readonly role: ObservedRole | undefined;
  readonly databases: readonly TransactionCounts[];
  /** Commits that wait for a synchronous standby, and the longest wait in seconds. */
  readonly blocked: { readonly commits: number; readonly seconds: number };
  /** Ids of queries that failed: the role may not run them, or they timed out. */
  readonly denied: readonly string[];
  /** Result of the last new connection; undefined: none yet. */
  readonly connection: ConnectionProbe | undefined;
}

export interface ObservedSlot {
  readonly name: string;
  readonly plugin: string | undefined;
  readonly database: string | undefined;
  readonly temporary: boolean;
  readonly active: boolean;
  readonly pid: number | undefined;
  /** WAL position in bytes that the target has confirmed; undefined: a physical slot. */
  readonly flushed: number | undefined;
  /** Bytes of WAL that the slot retains. */
  readonly retained: number | undefined;
  /** `reserved`, `extended`, `unreserved`, `lost` (13 and later). */
  readonly walStatus: string | undefined;
  /** Bytes of WAL until the slot is lost; undefined: there is no limit, or the version does not report it. */
  readonly safeWalBytes: number | undefined;
  /** As a text of the server (17 and later); changes with every failed attempt of the target. */
  readonly inactiveSince: string | undefined;
  /** invalidation_reason: why the slot cannot be used any more (17 and later). */
  readonly invalidated: string | undefined;
  /** Transactions decoded for the slot, including failed attempts (14 and later). */
  readonly decoded: number | undefined;
}

export interface ObservedWalSender {
  readonly pid: number;
  readonly database: string | undefined;
  /** application_name; a subscription uses its name. */
  readonly application: string;
  /** `startup` while a table is copied, then `catchup` and `streaming`. */
  readonly state: string;
  readonly address: string | undefined;
  /** The running replication command. */
  readonly command: string;
}

export interface ObservedCopy {
  readonly pid: number;
  readonly database: string;
  /** Oid of the table (14 and later), else its name in the statement. */
  readonly table: number | string;
  readonly rows: number;
  readonly bytes: number;
  /** The COPY belongs to pg_dump. */
  readonly dump: boolean;
}

export interface ObservedSetting {
  readonly value: string;
  readonly pendingRestart: boolean;
  /** Value in the configuration files; undefined: not set there, or the role may not read them. */
  readonly inFile: string | undefined;
}

export interface ObservedRole {
  readonly name: string;
  readonly superuser: boolean;
  readonly replication: boolean;
  readonly login: boolean;
  /** Seconds until the password expires; undefined: never. */
  readonly secondsLeft: number | undefined;
  /** Changes when the role or its password is altered; undefined: the role may not read it. */
  readonly revision: string | undefined;
}

export interface TransactionCounts {
  readonly name: string;
  readonly commits: number;
  readonly rollbacks: number;
}

/** What one poll reads about one database. */
export interface DatabaseFacts {
  readonly name: string;
  readonly tables: readonly ObservedTable[];
  readonly publications: ReadonlyMap<string, string>;
  /** undefined: not read in this poll. */
  readonly shapes: ReadonlyMap<number, TableShape> | undefined;
  readonly sizes: ReadonlyMap<number, number> | undefined;
  readonly denied: readonly string[];
}

export interface ObservedTable {
  readonly oid: number;
  /** `schema.table`. */
  readonly name: string;
  readonly seqScans: number;
  readonly seqRows: number;
  /** Estimated live rows. */
  readonly rows: number;
  readonly changed: number;
}

export interface TableShape {
  readonly name: string;
  /** Hash of the columns. */
  readonly columns: string;
  /** Replica identity and the indexes that can serve as one. */
  readonly identity: string;
  /** UPDATE and DELETE can be replicated. */
  readonly hasReplicaIdentity: boolean;
}

/** The source could not be reached. */
export interface SourceOutage {
  readonly at: number;
  /** An SQLSTATE, an error code of the operating system, or a code of ConnectError. */
  readonly code: string;
  readonly reason: string;
}

export type PostgresPoll =
  | { readonly kind: 'seen'; readonly server: ServerFacts; readonly databases: ReadonlyMap<string, DatabaseFacts> }
  | { readonly kind: 'outage'; readonly outage: SourceOutage };
