import type { DatabaseResponseMemoryLimit } from '../../../platform/response-memory.ts';
import type { PostgresqlEndpoint } from '../../../postgresql/endpoint.ts';

/** Everything that is needed to connect to a source. */
export interface PostgresqlSourceConnectOptions {
  /** The source, with the IP address to connect to. */
  readonly source: PostgresqlEndpoint;
  readonly timeouts: PostgresqlConnectAndQueryTimeouts;
  readonly signal: AbortSignal;
  readonly memory: DatabaseResponseMemoryLimit;
  /** Called with every statement before it is sent to the source. */
  readonly onSend: (database: string, text: string) => void;
}

/** Milliseconds. */
export interface PostgresqlConnectAndQueryTimeouts {
  /** Time limit for the lookup of the host name, and for one TCP connection. */
  readonly address: number;
  /** Time limit from the TCP connection until the server accepts statements. */
  readonly connect: number;
  /** For one statement. */
  readonly query: number;
}
