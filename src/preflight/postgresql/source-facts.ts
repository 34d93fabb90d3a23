import type { AddressFacts, TlsFacts } from '../network/network-facts.ts';

/** What is known before any question is asked: the way in. */
export interface PostgresqlSourceFacts {
  readonly dbname: string;
  readonly username: string;
  readonly address: AddressFacts;
  readonly tls: TlsFacts;
  readonly connection: PostgresqlConnectionResult;
  /** Databases of the server that can be migrated: all but template0, template1 and the ignored. Empty when the server could not be entered. */
  readonly databases: readonly string[];
  /** How the connection to each of them went; a database is missing while it was not tried. */
  readonly access: ReadonlyMap<string, DatabaseAccess>;
  /** What is to be copied, of all databases together. Known to server checks only, which are judged last. */
  readonly copy: InitialCopySize | undefined;
  /** Two readings of the WAL position, likewise; undefined in recovery, or when not possible. */
  readonly walRate: WalRate | undefined;
  /** Result of a connection of the replication protocol (IDENTIFY_SYSTEM); undefined: not tried. */
  readonly replication: ReplicationConnectionResult | undefined;
  /** Why the connection ended before the questions about the server were answered; absent: it did not. */
  readonly lost?: string | undefined;
}

export type PostgresqlConnectionResult =
  | {
      readonly kind: 'entered';
      /** server_version_num. */
      readonly version: number;
      /** What `version()` says, cleaned: other products speak the protocol too. */
      readonly versionText: string;
      readonly inRecovery: boolean;
      readonly superuser: boolean;
      /** What stands between: `client.processID` differed from pg_backend_pid(), or it said so itself. undefined: a direct connection. */
      readonly pooler: string | undefined;
      readonly ssl: boolean;
      /** The server wanted the password. */
      readonly passwordAsked: boolean;
      /** The server's own port and address, which differ from ours behind a forwarder. */
      readonly serverPort: number | undefined;
    }
  /** `code` is an SQLSTATE or a system error; `message` the server's words, cleaned. */
  | {
      readonly kind: 'refused';
      readonly code: string;
      readonly message: string;
      /** Set when it was a pooler that refused. */
      readonly pooler?: string | undefined;
      /** The login was done, and the first question refused. */
      readonly asked?: true;
    }
  | { readonly kind: 'unreachable'; readonly code: string; readonly message: string };

export type DatabaseAccess =
  /** `direct`: the process that answered is the one the connection was made to. */
  | {
      readonly kind: 'entered';
      readonly direct: boolean;
      /** Why the connection ended before the questions were answered, on a second try as well. */
      readonly broken?: string;
    }
  /** Nobody tried: the catalogue tells that it would be refused. */
  | { readonly kind: 'closed' }
  /** The server said no, to this database. */
  | { readonly kind: 'refused'; readonly code: string; readonly message: string }
  /** No answer, or the connection broke. */
  | { readonly kind: 'lost'; readonly message: string };

export interface InitialCopySize {
  /** Tables of all databases that were seen, without indexes. */
  readonly bytes: number;
  readonly tables: number;
  /** One table is copied by one worker, so it bounds the duration. */
  readonly largest: { readonly database: string; readonly table: string; readonly bytes: number } | undefined;
  readonly perDatabase: ReadonlyMap<string, DatabaseCopySize>;
  /** Databases whose sizes could not be asked. */
  readonly unseen: readonly string[];
}

export interface DatabaseCopySize {
  readonly bytes: number;
  readonly tables: number;
  readonly largest: { readonly table: string; readonly bytes: number } | undefined;
}

export interface WalRate {
  readonly bytes: number;
  readonly seconds: number;
}

export type ReplicationConnectionResult =
  | { readonly kind: 'entered' }
  | { readonly kind: 'refused'; readonly code: string; readonly message: string };

/** server_version_num; 0: not entered. */
export function serverVersionOf({ connection: entry }: PostgresqlSourceFacts): number {
  return entry.kind === 'entered' ? entry.version : 0;
}
