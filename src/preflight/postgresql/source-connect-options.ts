import type { ResponseMemory } from '../../platform/response-memory.ts';
import type { PostgresqlSource } from '../../postgresql/source.ts';

/** What is needed to connect to a source. */
export interface SourceConnectOptions {
  /** With the address to connect to. */
  readonly source: PostgresqlSource;
  readonly timeouts: ConnectTimeouts;
  readonly signal: AbortSignal;
  readonly memory: ResponseMemory;
  /** Called with every statement before it is sent. */
  readonly onSend: (database: string, text: string) => void;
}

/** Milliseconds. */
export interface ConnectTimeouts {
  /** To look up the host name, and for one TCP connection. */
  readonly address: number;
  /** From the TCP connection until the server accepts statements. */
  readonly connect: number;
  /** For one statement. */
  readonly query: number;
}
