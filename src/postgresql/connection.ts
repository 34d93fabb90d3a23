import { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import {
  clientSideDatabaseErrorCodes,
  DatabaseConnectError,
  type DatabaseConnectPhase,
} from '../platform/connect-error.ts';
import { createDatabaseResponseMemoryLimit, type DatabaseResponseMemoryLimit } from '../platform/response-memory.ts';
import { readTlsInfoOfSocket, type TlsConnectionInfo } from '../platform/tls-connection-info.ts';
import {
  createPostgresqlAuthenticationGuard,
  isTrustedServer,
  maySendCleartextPassword,
  type PostgresqlAuthenticationMethod,
} from './authentication-guard.ts';
import { type CopyFromStdinSink, type CopyToStdoutMethod, receiveCopyToStdout, startCopyFromStdin } from './copy.ts';
import type { PostgresqlEndpoint } from './endpoint.ts';
import { createPostgresqlMessageReader, type PostgresqlMessageReader } from './message-reader.ts';
import type { Client } from './pg.ts';
import { createPostgresqlMessageStream } from './postgresql-message-stream.ts';
import type { PostgresqlRow } from './postgresql-row.ts';
import { toPostgresqlConnectError, toPostgresqlQueryError } from './query-error.ts';
import type { SearchPathSafeSql } from './search-path-safe-sql.ts';
import { sendPostgresqlStatement } from './send-postgresql-statement.ts';
import { isStartupMessageParameterRefusal, postgresqlStartupMessageParameters } from './startup-settings.ts';
import { postgresqlTlsOptions } from './tls.ts';
import { withTimeout } from './with-timeout.ts';

export interface PostgresqlConnectOptions {
  readonly dbname: string;
  /** Time limit in milliseconds from the start of the connection until the server is ready for a statement. */
  readonly limit: number;
  readonly signal?: AbortSignal | undefined;
  /** Whether to open a replication connection (`replication=database`) instead of an SQL session. */
  readonly replication?: boolean;
  /** application_name, as pg_stat_activity shows it (default: `cloudctl-preflight`). */
  readonly applicationName?: string;
  /** A common memory limit for sessions whose responses are in memory at the same time (default: a limit per response). */
  readonly memory?: DatabaseResponseMemoryLimit | undefined;
  /**
   * The search_path that RESET restores, in place of pg_catalog. Only for a database whose schemas in it hold nothing but
   * extensions: their scripts may look for the extensions that they require by this value.
   */
  readonly resetSearchPath?: string | undefined;
}

export interface PostgresqlSession {
  /** The process id that the server reported at login (BackendKeyData); a pooler reports an arbitrary one, or none. */
  readonly processId: number | undefined;
  /** undefined: not encrypted. */
  readonly tls: TlsConnectionInfo | undefined;
  /** With the method `trust` in pg_hba.conf the server does not request, and so does not verify, the password. */
  readonly authentication: PostgresqlAuthenticationMethod;
  /** The message with which a pooler rejected `postgresqlStartupMessageParameters`; undefined if the settings are in force. */
  readonly startupRefusal: string | undefined;
  /**
   * Sends one message of the simple query protocol. Returns the rows of each statement, in order.
   * @param limit milliseconds (default: 30 s), after which the session is closed
   * @throws QueryError; unless it is `lost`, the session can be used again
   */
  query(message: SearchPathSafeSql, limit?: number): Promise<readonly (readonly PostgresqlRow[])[]>;
  /**
   * Sends a message with one `COPY … TO STDOUT` (https://www.postgresql.org/docs/current/sql-copy.html). If the
   * response is not read to its end, the session is closed. Throws a QueryError.
   */
  copyOut: CopyToStdoutMethod<SearchPathSafeSql>;
  /** Runs `COPY … FROM STDIN`. Throws a QueryError. */
  copyIn(message: SearchPathSafeSql): Promise<CopyFromStdinSink>;
  /** Closes the session within a second; never throws. */
  end(): Promise<void>;
}

/** Opens a session. Throws a ConnectError, and then leaves no socket open. */
export async function connectPostgresql(
  source: PostgresqlEndpoint,
  options: PostgresqlConnectOptions,
): Promise<PostgresqlSession> {
  const begin = performance.now();
  try {
    const { resetSearchPath } = options;
    const settings =
      resetSearchPath === undefined
        ? postgresqlStartupMessageParameters
        : { ...postgresqlStartupMessageParameters, search_path: resetSearchPath };
    return { ...(await openSession(source, options, settings)), startupRefusal: undefined };
  } catch (error) {
    if (!(error instanceof DatabaseConnectError) || !isStartupMessageParameterRefusal(error)) throw error;
    const limit = Math.max(1, options.limit - (performance.now() - begin));
    return { ...(await openSession(source, { ...options, limit }, {})), startupRefusal: error.message };
  }
}

async function openSession(
  source: PostgresqlEndpoint,
  options: PostgresqlConnectOptions,
  settings: Readonly<Record<string, string>>,
): Promise<Omit<PostgresqlSession, 'startupRefusal'>> {
  const { Client: PgClient } = await import('./pg.ts');
  refuseNul('user name', source.username);
  refuseNul('database name', options.dbname);
  const socket = new Socket();
  const client = new PgClient({
    host: source.address ?? source.host,
    port: source.port,
    user: source.username,
    database: options.dbname,
    // If the function returned an empty password, the package pg would read the environment and .pgpass.
    password: () => passwordOf(source),
    ssl: source.ssl === 'require' ? postgresqlTlsOptions(source) : false,
    sslnegotiation: 'postgres',
    stream: () => socket,
    keepAlive: true,
    scramMaxIterations: 5_000_000,
    // Channel binding is off without TLS: a server cannot offer it, and a client must not announce it.
    enableChannelBinding: source.ssl === 'require',
  });
  // The startup parameters are set explicitly, because the package pg would otherwise add those in PGOPTIONS.
  client.getStartupConf = () => ({
    user: source.username,
    database: options.dbname,
    application_name: options.applicationName ?? 'cloudctl-preflight',
    ...(options.replication === true ? { replication: 'database' } : {}),
    ...settings,
  });
  const guard = createPostgresqlAuthenticationGuard(
    () => maySendCleartextPassword(source, socket.remoteAddress),
    source.ssl === 'require',
    isTrustedServer(source),
  );
  const memory = options.memory ?? createDatabaseResponseMemoryLimit('statement');
  const connection = watchConnection(client, socket, source.ssl === 'require', (deliver) =>
    createPostgresqlMessageReader(deliver, guard.check, memory),
  );
  try {
    await withTimeout(client.connect(), options.limit, options.signal);
  } catch (error) {
    connection.drop();
    const step = { phase: connection.phase(), tls: connection.tls(), answered: socket.bytesRead > 0 };
    const failure = toPostgresqlConnectError(error, step, options.limit);
    const { phase, code, message, tls } = failure;
    const isBinding = guard.isScramOpen() && code === '28000';
    throw isBinding
      ? new DatabaseConnectError(phase, clientSideDatabaseErrorCodes.channelBinding, message, tls)
      : failure;
  }
  return { ...createPostgresqlSession(client, connection, options.signal), authentication: guard.method() };
}

function createPostgresqlSession(
  client: Client,
  connection: ConnectionState,
  signal: AbortSignal | undefined,
): Omit<PostgresqlSession, 'authentication' | 'startupRefusal'> {
  const transport = {
    signal,
    drop: connection.drop,
    toError: (error: unknown) => toPostgresqlQueryError(connection.failure() ?? error, 0),
  };
  return {
    // The package pg reads the process id as a signed number, but poolers use all 32 bits.
    processId: client.processID === null ? undefined : client.processID >>> 0,
    tls: connection.tls(),
    async query(message, limit = 30_000) {
      connection.expectResponse();
      try {
        return await withTimeout(sendPostgresqlStatement(client, message), limit, signal);
      } catch (error) {
        const failure = toPostgresqlQueryError(connection.failure() ?? error, limit);
        if (failure.lost) connection.drop();
        throw failure;
      }
    },
    copyOut(message, take, messages = 'rows', ended = undefined) {
      connection.expectResponse(messages);
      return receiveCopyToStdout(client, transport, message, take, ended);
    },
    copyIn(message) {
      connection.expectResponse();
      return startCopyFromStdin(client, transport, message);
    },
    async end() {
      // The server should close the connection after Terminate; if the server does not, the socket is destroyed.
      await withTimeout(client.end(), 1000, signal).catch(() => {});
      connection.drop();
    },
  };
}

/** State of the network connection that the package pg does not expose. */
interface ConnectionState {
  phase(): DatabaseConnectPhase;
  tls(): TlsConnectionInfo | undefined;
  /** The error that ended the connection while no statement was running. */
  failure(): Error | undefined;
  expectResponse: PostgresqlMessageReader['expectResponse'];
  drop(): void;
}

function watchConnection(
  client: Client,
  socket: Socket,
  encrypted: boolean,
  createReader: (deliver: (messages: Buffer) => void) => PostgresqlMessageReader,
): ConnectionState {
  let phase: DatabaseConnectPhase = 'network';
  let tls: TlsConnectionInfo | undefined;
  let failure: Error | undefined;
  socket.once('connect', () => {
    phase = encrypted ? 'tls' : 'startup';
  });
  client.connection.once('sslconnect', () => {
    const { stream } = client.connection;
    stream.once('secureConnect', () => {
      phase = 'startup';
      if (stream instanceof TLSSocket) tls = readTlsInfoOfSocket(stream);
    });
  });
  client.on('error', (error: Error) => {
    failure ??= error;
  });
  let reader: PostgresqlMessageReader | undefined;
  const attach = client.connection.attachListeners;
  client.connection.attachListeners = (stream) => {
    const read = (deliver: (messages: Buffer) => void) => {
      reader = createReader(deliver);
      return reader;
    };
    attach.call(client.connection, createPostgresqlMessageStream(stream, read));
  };
  return {
    phase: () => phase,
    tls: () => tls,
    failure: () => failure,
    expectResponse: (copy) => reader?.expectResponse(copy),
    drop() {
      reader?.close();
      client.connection.stream.destroy();
      socket.destroy();
    },
  };
}

function passwordOf(source: PostgresqlEndpoint): string {
  const password = source.password?.reveal() ?? '';
  if (password === '') throw startupError('noPassword', 'the server requires a password');
  return password;
}

/** NUL is refused, because it ends a text of the startup message, and the server would parse the rest as a parameter. */
function refuseNul(what: string, text: string): void {
  if (text.includes('\0')) throw startupError('protocol', `the ${what} contains a NUL character`);
}

function startupError(code: keyof typeof clientSideDatabaseErrorCodes, message: string): DatabaseConnectError {
  return new DatabaseConnectError('startup', clientSideDatabaseErrorCodes[code], message);
}
