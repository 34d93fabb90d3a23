import type { ConnectionProbe } from '../connection-probe.ts';

/** What the server as a whole tells in one look. */
export interface ServerFacts {
  /** Milliseconds since the epoch, by our clock. */
  readonly at: number;
  readonly version: number;
  /** When the postmaster started, as the server writes it. */
  readonly startedAt: string;
  readonly inRecovery: boolean;
  /** Bytes of WAL ever written; undefined in recovery. */
  readonly walPosition: number | undefined;
  readonly slots: readonly ObservedSlot[];
  readonly senders: readonly ObservedWalSender[];
  readonly copies: readonly ObservedCopy[];
  /** Databases that somebody reads with pg_dump. */
  readonly dumps: readonly string[];
  readonly settings: ReadonlyMap<string, ObservedSetting>;
  /** Host rules as one hash; undefined: not to be seen. */
  readonly hostRules: string | undefined;
  readonly role: ObservedRole | undefined;
  readonly databases: readonly TransactionCounts[];
  /** Commits that wait for a synchronous standby, and for how many seconds the oldest does. */
  readonly blocked: { readonly commits: number; readonly seconds: number };
  /** Questions that the server did not answer: this role may not ask them, or they took too long. */
  readonly denied: readonly string[];
  /** The last look at the door; undefined: none yet. */
  readonly connection: ConnectionProbe | undefined;
}

export interface ObservedSlot {
  readonly name: string;
  readonly plugin: string | undefined;
  readonly database: string | undefined;
  readonly temporary: boolean;
  readonly active: boolean;
  readonly pid: number | undefined;
  /** Bytes of WAL that the target has confirmed; undefined: a physical slot. */
  readonly flushed: number | undefined;
  /** Bytes of WAL the slot keeps on the disk. */
  readonly retained: number | undefined;
  /** `reserved`, `extended`, `unreserved`, `lost` (13 and newer). */
  readonly walStatus: string | undefined;
  /** Bytes until it is lost; undefined: no limit is set, or the version does not tell. */
  readonly safeWalBytes: number | undefined;
  /** As the server writes it (17 and newer): moves with every attempt of a target that fails. */
  readonly inactiveSince: string | undefined;
  /** Why it can never be used again (17 and newer). */
  readonly invalidated: string | undefined;
  /** Transactions decoded for it, failed attempts included (14 and newer). */
  readonly decoded: number | undefined;
}

export interface ObservedWalSender {
  readonly pid: number;
  readonly database: string | undefined;
  /** Of a subscription its name. */
  readonly application: string;
  /** `startup` while a table is copied, then `catchup`, `streaming`. */
  readonly state: string;
  readonly address: string | undefined;
  /** The replication command it runs. */
  readonly command: string;
}

export interface ObservedCopy {
  readonly pid: number;
  readonly database: string;
  /** The table's OID (14 and newer), else its name as the statement has it. */
  readonly table: number | string;
  readonly rows: number;
  readonly bytes: number;
  /** Of pg_dump. */
  readonly dump: boolean;
}

export interface ObservedSetting {
  readonly value: string;
  readonly pendingRestart: boolean;
  /** What the files say, read or not; undefined: nothing, or not to be seen. */
  readonly inFile: string | undefined;
}

export interface ObservedRole {
  readonly name: string;
  readonly superuser: boolean;
  readonly replication: boolean;
  readonly login: boolean;
  /** Until the password expires; undefined: never. */
  readonly secondsLeft: number | undefined;
  /** Changes whenever the role is altered, its password included; undefined: not to be seen. */
  readonly revision: string | undefined;
}

export interface TransactionCounts {
  readonly name: string;
  readonly commits: number;
  readonly rollbacks: number;
}

/** What one database tells in one look. */
export interface DatabaseFacts {
  readonly name: string;
  readonly tables: readonly ObservedTable[];
  readonly publications: ReadonlyMap<string, string>;
  /** Undefined: not asked this time. */
  readonly shapes: ReadonlyMap<number, TableShape> | undefined;
  readonly sizes: ReadonlyMap<number, number> | undefined;
  readonly denied: readonly string[];
}

export interface ObservedTable {
  readonly oid: number;
  /** Qualified. */
  readonly name: string;
  readonly seqScans: number;
  readonly seqRows: number;
  /** As counted: live rows, or what ANALYZE knew. */
  readonly rows: number;
  readonly changed: number;
}

export interface TableShape {
  readonly name: string;
  /** Of its columns. */
  readonly columns: string;
  /** Its replica identity, with the indexes that may serve. */
  readonly identity: string;
  /** UPDATE and DELETE can be told apart on the target. */
  readonly hasReplicaIdentity: boolean;
}

/** Nobody could be asked. */
export interface SourceOutage {
  readonly at: number;
  /** An SQLSTATE, a code of the operating system, or one of the connection's own. */
  readonly code: string;
  readonly reason: string;
}

export type PostgresPoll =
  | { readonly kind: 'seen'; readonly server: ServerFacts; readonly databases: ReadonlyMap<string, DatabaseFacts> }
  | { readonly kind: 'outage'; readonly outage: SourceOutage };
