import type { AuthenticationMethod } from '../../postgresql/authentication-guard.ts';
import type { AddressFacts, TlsFacts } from '../network/network-facts.ts';
import type { CatalogLock } from './queries/catalog-locks.ts';
import type { ServerInstance } from './queries/server-instances.ts';

/** What is known of a source beside the results of the queries. */
export interface PostgresqlSourceFacts {
  /** The database that the first connection was made to. */
  readonly dbname: string;
  readonly username: string;
  readonly address: AddressFacts;
  readonly tls: TlsFacts;
  readonly connection: PostgresqlConnectionResult;
  /** The databases to be migrated: all but template0, template1 and the ignored ones. Empty when no connection was made. */
  readonly databases: readonly string[];
  /** Result of the connection to each database; a database is missing until a connection was tried. */
  readonly access: ReadonlyMap<string, DatabaseAccess>;
  /** What the initial copy reads, of all databases together. Known to server checks only, which are evaluated last. */
  readonly copy: InitialCopySize | undefined;
  /** From two readings of the WAL position, known to server checks only; undefined: in recovery, or not possible. */
  readonly walRate: WalRate | undefined;
  /** Result of a connection of the replication protocol (IDENTIFY_SYSTEM); undefined: not tried. */
  readonly replication: ReplicationConnectionResult | undefined;
  /** Why the connection ended before all queries of the server had a result; absent: it did not. */
  readonly lost?: string | undefined;
}

export type PostgresqlConnectionResult =
  | ConnectedSource
  /** `code` is an SQLSTATE or an error of the system; `message` is the server's, sanitized. */
  | {
      readonly kind: 'refused';
      readonly code: string;
      readonly message: string;
      /** Why the refusal must be that of a connection pooler. */
      readonly pooler?: string | undefined;
      /** What further connections showed, after a login without an end. */
      readonly silence?: LoginSilence;
      /** The login succeeded, and the first statement was refused. */
      readonly asked?: true;
    }
  | { readonly kind: 'unreachable'; readonly code: string; readonly message: string };

/** What further connections show about a server that did not finish a login. */
export interface LoginSilence {
  /** It answers the request for TLS (SSLRequest), which needs no catalog: the server process runs. */
  readonly answersTlsRequest: boolean;
  /** Locks that stop the login, read in another database. */
  readonly locks: readonly CatalogLock[];
}

export interface ConnectedSource {
  readonly kind: 'entered';
  /** server_version_num. */
  readonly version: number;
  /** Result of `version()`, sanitized: other products implement the protocol as well. */
  readonly versionText: string;
  readonly inRecovery: boolean;
  readonly superuser: boolean;
  /** Evidence of a connection pooler: the process of BackendKeyData is not the one of pg_backend_pid(), or the pooler's own version. undefined: a direct connection. */
  readonly pooler: string | undefined;
  /** Why the settings of the startup message are not in force: the pooler's message, sanitized. undefined: they are. */
  readonly startupRefusal: string | undefined;
  readonly ssl: boolean;
  /** How the server requested the password. */
  readonly authentication: AuthenticationMethod;
  /** The port that the server listens on, which differs behind a port forwarder. */
  readonly serverPort: number | undefined;
}

export type DatabaseAccess =
  | {
      readonly kind: 'entered';
      /** The server process is the one that the connection was made to, so no pooler is in between. */
      readonly direct: boolean;
      /** The server that it reached; undefined: the role cannot read it. */
      readonly instance?: ServerInstance | undefined;
      /** Why the connection ended before all queries had a result, on a second try as well. */
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
      /** Locks on system catalogs that stop a login to the database. */
      readonly locks?: readonly CatalogLock[];
    };

export interface InitialCopySize {
  /** Tables of all measured databases, without indexes. */
  readonly bytes: number;
  readonly tables: number;
  /** One worker copies a table, so the largest table is a lower bound of the duration. */
  readonly largest: { readonly database: string; readonly table: string; readonly bytes: number } | undefined;
  readonly perDatabase: ReadonlyMap<string, DatabaseCopySize>;
  /** Databases whose sizes are not known. */
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
  /** The server of the second reading. */
  readonly instance?: ServerInstance | undefined;
}

export type ReplicationConnectionResult =
  | {
      readonly kind: 'entered';
      /** The server that it reached; undefined: the role cannot read it. */
      readonly instance?: ServerInstance | undefined;
    }
  | { readonly kind: 'refused'; readonly code: string; readonly message: string };

/** server_version_num; 0 when no connection was made. */
export function serverVersionOf({ connection }: PostgresqlSourceFacts): number {
  return connection.kind === 'entered' ? connection.version : 0;
}
