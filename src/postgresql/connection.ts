import { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { ConnectError, type ConnectPhase, connectErrorCodes } from '../platform/connect-error.ts';
import { sanitizeRemoteText } from '../platform/sanitize-remote-text.ts';
import { readTlsSession, type TlsSession } from '../platform/tls-session.ts';
import { type CopyIn, type CopyOut, copyIn, copyOut } from './copy.ts';
import type { Client, Stream } from './pg.ts';
import { toConnectError, toQueryError } from './query-error.ts';
import type { PostgresqlSource } from './source.ts';
import { postgresqlTlsOptions } from './tls.ts';

/** A row of the simple protocol: every value as the server wrote it. */
export type PostgresqlRow = Readonly<Record<string, string | null>>;

export interface ConnectOptions {
  readonly dbname: string;
  /** Milliseconds until the server must be ready for a query. */
  readonly limit: number;
  readonly signal?: AbortSignal | undefined;
  /** A walsender of the logical kind: `replication=database`. */
  readonly replication?: boolean;
  /** As the server shows the session to others; `cloudctl-preflight` unless told. */
  readonly applicationName?: string;
}

export interface PostgresqlSession {
  /** What the other side told as its process (BackendKeyData); a pooler tells anything, or nothing. */
  readonly processId: number | undefined;
  /** undefined: not encrypted. */
  readonly tls: TlsSession | undefined;
  /** The server wanted the password; where a host rule says `trust` nobody knows whether it is right. */
  readonly passwordAsked: boolean;
  /**
   * Sends one message of the simple protocol: one entry a statement, in order; values are text or null.
   * Throws a QueryError; after one that is not `lost` the session goes on.
   * @param limit milliseconds, 30 s unless told; after them the session is given up
   */
  query(text: string, limit?: number): Promise<readonly (readonly PostgresqlRow[])[]>;
  /** Says goodbye and closes, in a second at most; never fails. */
  end(): Promise<void>;
}

/** A session that can carry whole tables. */
export interface CopySession extends PostgresqlSession {
  /** `COPY … TO STDOUT`. Throws a QueryError; one that was not read to its end costs the session. */
  copyOut: CopyOut;
  /** `COPY … FROM STDIN`. */
  copyIn: CopyIn;
}

/** Opens a session. Throws a ConnectError, and leaves nothing open behind it. */
export async function connectPostgresql(source: PostgresqlSource, options: ConnectOptions): Promise<CopySession> {
  const { Client: Made } = await import('./pg.ts');
  refuseNul('user name', source.username);
  refuseNul('database name', options.dbname);
  const socket = new Socket();
  let passwordAsked = false;
  const client = new Made({
    host: source.address ?? source.host,
    port: source.port,
    user: source.username,
    database: options.dbname,
    // A function that never gives an empty text: otherwise pg looks in the environment and in .pgpass itself.
    password: () => {
      passwordAsked = true;
      return passwordOf(source);
    },
    ssl: source.ssl === 'require' ? postgresqlTlsOptions(source) : false,
    sslnegotiation: 'postgres',
    stream: () => socket,
    keepAlive: true,
    scramMaxIterations: 5_000_000,
  });
  // pg adds what it finds in PGOPTIONS and its like; a pooler refuses such parameters, or hands the settings on.
  client.getStartupConf = () => ({
    user: source.username,
    database: options.dbname,
    application_name: options.applicationName ?? 'cloudctl-preflight',
    ...(options.replication === true ? { replication: 'database' } : {}),
  });
  const line = watchConnection(client, socket, source.ssl === 'require');
  try {
    await withTimeout(client.connect(), options.limit, options.signal);
  } catch (error) {
    line.drop();
    throw toConnectError(error, line.phase(), options.limit, line.tls());
  }
  return { ...createPostgresqlSession(client, line, options.signal), passwordAsked };
}

function createPostgresqlSession(
  client: Client,
  line: ConnectionState,
  signal: AbortSignal | undefined,
): Omit<CopySession, 'passwordAsked'> {
  const copying = {
    signal,
    drop: line.drop,
    toError: (error: unknown) => toQueryError(line.failure() ?? error, 0),
  };
  return {
    // pg reads it as a signed number, and poolers make up any of 32 bits.
    processId: client.processID === null ? undefined : client.processID >>> 0,
    tls: line.tls(),
    async query(text, limit = 30_000) {
      try {
        const answer = await withTimeout(client.query({ text, types: asText }), limit, signal);
        return 'rows' in answer ? [answer.rows] : answer.map((set) => set.rows);
      } catch (error) {
        const failure = toQueryError(line.failure() ?? error, limit);
        if (failure.lost) line.drop();
        throw failure;
      }
    },
    copyOut: (text, take) => copyOut(client, copying, text, take),
    copyIn: (text) => copyIn(client, copying, text),
    async end() {
      // The server closes its side on a goodbye; one that hangs is left.
      await withTimeout(client.end(), 1000, signal).catch(() => {});
      line.drop();
    },
  };
}

const asText = { getTypeParser: () => (value: string) => value };

/** What becomes of the connection below the client. */
interface ConnectionState {
  phase(): ConnectPhase;
  tls(): TlsSession | undefined;
  /** Why it broke when nobody was asking. */
  failure(): Error | undefined;
  drop(): void;
}

function watchConnection(client: Client, socket: Socket, encrypted: boolean): ConnectionState {
  let phase: ConnectPhase = 'network';
  let tls: TlsSession | undefined;
  let failure: Error | undefined;
  socket.once('connect', () => {
    phase = encrypted ? 'tls' : 'startup';
  });
  client.connection.once('sslconnect', () => {
    const { stream } = client.connection;
    stream.once('secureConnect', () => {
      phase = 'startup';
      if (stream instanceof TLSSocket) tls = readTlsSession(stream);
    });
  });
  client.on('error', (error: Error) => {
    failure ??= error;
  });
  const attach = client.connection.attachListeners;
  client.connection.attachListeners = (stream) => attach.call(client.connection, catchListenerErrors(stream));
  return {
    phase: () => phase,
    tls: () => tls,
    failure: () => failure,
    drop() {
      client.connection.stream.destroy();
      socket.destroy();
    },
  };
}

/** pg reads messages in a listener and throws on some, such as a request for Kerberos: nobody could catch that. */
function catchListenerErrors(stream: Stream): Stream {
  let begun = false;
  return {
    on: (event, listener) =>
      stream.on(event, (...words) => {
        try {
          if (event === 'data' && !begun) refuseOtherProtocol(words[0]);
          begun ||= event === 'data';
          listener(...words);
        } catch (error) {
          stream.destroy(new Error(sanitizeRemoteText(String(error))));
        }
      }),
    destroy: (error) => stream.destroy(error),
  };
}

/** The first message asks for authentication, negotiates the protocol, or is an error; pg would wait for the rest of anything. */
function refuseOtherProtocol(bytes: unknown): void {
  const first = Buffer.isBuffer(bytes) ? bytes[0] : undefined;
  if (first === undefined || !'REvN'.includes(String.fromCharCode(first))) {
    throw new Error('what answers does not speak the protocol of PostgreSQL');
  }
}

/** The work, or a DOMException: TimeoutError after the limit, AbortError when the signal comes first. */
function withTimeout<T>(work: Promise<T>, limit: number, signal: AbortSignal | undefined): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => finish(() => reject(new DOMException('no longer wanted', 'AbortError')));
    const timer = setTimeout(() => finish(() => reject(new DOMException('no answer', 'TimeoutError'))), limit);
    const finish = (settle: () => void) => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', stop);
      settle();
    };
    signal?.addEventListener('abort', stop);
    if (signal?.aborted === true) stop();
    work.then(
      (value) => finish(() => resolve(value)),
      (error) => finish(() => reject(error)),
    );
  });
}

function passwordOf(source: PostgresqlSource): string {
  const password = source.password?.reveal() ?? '';
  if (password === '')
    throw new ConnectError('startup', connectErrorCodes.noPassword, 'the server asks for a password');
  return password;
}

/** A NUL ends a text of the startup message, so that the rest of it would be read as another parameter. */
function refuseNul(what: string, text: string): void {
  if (text.includes('\0'))
    throw new ConnectError('startup', connectErrorCodes.protocol, `the ${what} holds a NUL character`);
}
