import type { PostgresqlSource } from '../../postgresql/source.ts';

/** What is needed to knock at a source. */
export interface SourceConnectOptions {
  /** With the address to dial. */
  readonly source: PostgresqlSource;
  readonly timeouts: ConnectTimeouts;
  readonly signal: AbortSignal;
  /** Hears every statement before it is sent. */
  readonly onSent: (database: string, text: string) => void;
}

/** Milliseconds. */
export interface ConnectTimeouts {
  /** A name, and one TCP connection. */
  readonly address: number;
  /** A connection up to the first query. */
  readonly connect: number;
  readonly query: number;
}
