import type { AddressFacts, TlsFacts } from '../network/facts.ts';

/** What is known before any question is asked: the way in. */
export interface Ground {
  readonly dbname: string;
  readonly username: string;
  readonly address: AddressFacts;
  readonly tls: TlsFacts;
  readonly entry: Entry;
  /** Databases of the server that can be migrated: neither template nor ignored. Empty when the server could not be entered. */
  readonly databases: readonly string[];
  /** Two readings of the WAL position; undefined until taken, in recovery, or when not possible. */
  readonly walRate: WalRate | undefined;
  /** Result of a connection of the replication protocol (IDENTIFY_SYSTEM); undefined: not tried. */
  readonly replication: ReplicationEntry | undefined;
}

export type Entry =
  | {
      readonly kind: 'entered';
      /** server_version_num. */
      readonly version: number;
      readonly inRecovery: boolean;
      readonly superuser: boolean;
      /** What stands between: `client.processID` differed from pg_backend_pid(), or it said so itself. undefined: a direct connection. */
      readonly pooler: string | undefined;
      readonly ssl: boolean;
      /** The server's own port and address, which differ from ours behind a forwarder. */
      readonly serverPort: number | undefined;
    }
  /** `code` is an SQLSTATE or a system error; `message` the server's words, cleaned. */
  | { readonly kind: 'refused'; readonly code: string; readonly message: string }
  | { readonly kind: 'unreachable'; readonly code: string; readonly message: string };

export interface WalRate {
  readonly bytes: number;
  readonly seconds: number;
}

export type ReplicationEntry = { readonly kind: 'entered' } | { readonly kind: 'refused'; readonly code: string; readonly message: string };
