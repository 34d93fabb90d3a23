import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';
import type { Client } from './pg.ts';
import { ConnectError, ownCodes, type Phase, QueryError, said } from './failure.ts';
import type { PostgresSource } from './source.ts';
import { readTls, type TlsSession, tlsOptions } from './tls.ts';

/** A row of the simple protocol: every value as the server wrote it. */
export type Row = Readonly<Record<string, string | null>>;

export interface ConnectOptions {
  readonly dbname: string;
  /** Milliseconds until the server must be ready for a query. */
  readonly limit: number;
  readonly signal?: AbortSignal | undefined;
  /** A walsender of the logical kind: `replication=database`. */
  readonly replication?: boolean;
}

export interface PgSession {
  /** What the other side told as its process (BackendKeyData); a pooler tells anything, or nothing. */
  readonly processId: number | undefined;
  readonly tls: TlsSession | undefined;
  /**
   * Sends one message of the simple protocol: one entry a statement, in order; values are text or null.
   * Throws a QueryError. After one that is not `lost` the session goes on.
   * @param limit milliseconds, 30 s unless told; then the session is given up
   */
  query(text: string, limit?: number): Promise<readonly (readonly Row[])[]>;
  /** Says goodbye and closes, in a second at most; never fails. */
  end(): Promise<void>;
}

/** Opens a session. Throws a ConnectError, and leaves nothing open behind it. */
export async function connect(source: PostgresSource, options: ConnectOptions): Promise<PgSession> {
  const { Client: Made } = await import('./pg.ts');
  refuseNul(source.username, 'user name');
  refuseNul(options.dbname, 'database name');
  const socket = new Socket();
  const client = new Made({
    host: source.address ?? source.host,
    port: source.port,
    user: source.username,
    database: options.dbname,
    // A function, and never an empty text: pg would go and look in the environment and in .pgpass itself.
    password: () => passwordOf(source),
    ssl: source.ssl === 'require' ? tlsOptions(source) : false,
    sslnegotiation: 'postgres',
    stream: () => socket,
    keepAlive: true,
    scramMaxIterations: 5_000_000,
  });
  // pg adds what it finds in PGOPTIONS and its like; a pooler refuses such parameters, or hands the settings on.
  client.getStartupConf = () => startupParameters(source, options);
  const line = watch(client, socket, source.ssl === 'require');
  try {
    await within(options.limit, options.signal, client.connect());
  } catch (error) {
    line.drop();
    throw connectError(error, line.phase(), options.limit);
  }
  return session(client, line, options.signal);
}

function startupParameters(source: PostgresSource, options: ConnectOptions): Readonly<Record<string, string>> {
  return {
    user: source.username,
    database: options.dbname,
    application_name: 'cloudctl-preflight',
    ...(options.replication === true ? { replication: 'database' } : {}),
  };
}
