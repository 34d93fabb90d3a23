import { isIP, Socket } from 'node:net';
import { type ConnectionOptions, checkServerIdentity, TLSSocket } from 'node:tls';
import { isLoopbackPeer } from '../platform/loopback-host.ts';
import { createLimit, type MemoryLimit } from '../platform/memory.ts';
import {
  ConnectError,
  type ConnectPhase,
  clientErrorCodes,
  readTlsInfo,
  type TlsInfo,
} from '../platform/network-errors.ts';
import { type CopyOut, type CopySink, receiveCopy, startCopy } from './copy.ts';
import { type PostgresqlEndpoint, verifiesIdentity } from './endpoint.ts';
import { createMessageReader, createMessageStream, type MessageReader } from './message-reader.ts';
import type { Client } from './pg.ts';
import { toConnectError, toQueryError } from './query-error.ts';
import type { PostgresqlRow } from './rows.ts';
import type { SafeSql } from './search-path-safe-sql.ts';
import { sendStatement } from './statement.ts';

/**
 * TLS options that encrypt without verifying the certificate, like sslmode=require of libpq, unless `verify` is set.
 */
function postgresqlTlsOptions({ host, verify }: PostgresqlEndpoint): ConnectionOptions {
  const name = host.replace(/\.$/, '');
  return {
    host: name,
    // SNI may contain only host names without a final dot (RFC 6066, section 3); the package pg would set it to the IP
    // address of the connection.
    ...(isIP(name) === 0 ? { servername: name } : {}),
    rejectUnauthorized: verify !== undefined,
    ...(verify?.ca === undefined ? {} : { ca: verify.ca.pem }),
    checkServerIdentity: (host, certificate) =>
      verify?.what === 'full' ? checkServerIdentity(host, certificate) : undefined,
  };
}

/**
 * Settings that every startup message contains. These settings are in force before the first query. A SET statement
 * would be too late: a login event trigger (PostgreSQL 17 and newer) resolves names before any query, and a query
 * message is parsed before a SET in the message has an effect. The package pg adds client_encoding. This list must
 * contain no setting that a check reads: the reset_val of that setting would be the value from this list.
 * https://www.postgresql.org/docs/current/protocol-message-formats.html#PROTOCOL-MESSAGE-FORMATS-STARTUPMESSAGE
 */
export const startupParameters = {
  default_transaction_deferrable: 'off',
  default_transaction_isolation: 'read committed',
  role: 'none',
  search_path: 'pg_catalog, pg_temp',
  standard_conforming_strings: 'on',
} as const;

/**
 * Whether the login may succeed without `startupParameters`. A PostgreSQL server knows all these settings; a pooler
 * rejects a parameter that it does not track as a protocol violation, other products as an unknown parameter, a wrong
 * value or an unsupported feature.
 */
export function isStartupRefusal({ phase, code }: ConnectError): boolean {
  return phase === 'startup' && refusalCodes.has(code);
}

const refusalCodes: ReadonlySet<string> = new Set(['08P01', '42704', '22023', '0A000']);

/** How the server requested the password; `none`: the server did not request it. */
export type AuthMethod = 'none' | 'password' | 'md5' | 'scram-sha-256' | 'scram-sha-256-plus';

interface AuthenticationGuard {
  /**
   * Must be called with each authentication request, before the client responds. Throws a ConnectError for a request to
   * which the client must not respond.
   */
  check(code: number, body: Buffer): void;
  method(): AuthMethod;
  /** Whether SCRAM has begun and has no result yet; an error of the server is then about the channel binding. */
  isScramOpen(): boolean;
}

/**
 * Checks that the authentication requests of a server have an order that the protocol allows.
 * https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-START-UP
 * @param maySendCleartext false: a request for the password in clear text is refused
 * @param bindsChannel SCRAM-SHA-256-PLUS is used where the server offers it
 * @param trustsServer false: a proof with few iterations is refused
 */
export function guardAuthentication(
  maySendCleartext: () => boolean,
  bindsChannel: boolean,
  trustsServer: boolean,
): AuthenticationGuard {
  let method: AuthMethod = 'none';
  let last: number | undefined;
  return {
    method: () => method,
    isScramOpen: () => last === codes.sasl || last === codes.saslContinue,
    check(code, body) {
      if (code < 0) throw outOfOrder(undefined);
      const before = last;
      last = code;
      if (!(allowedAfter.get(before) ?? noCodes).includes(code) && isKnown(code)) throw outOfOrder(before);
      if (code === codes.cleartext) {
        if (!maySendCleartext()) throw cleartextRefused();
        method = 'password';
      }
      if (code === codes.md5) method = 'md5';
      if (code === codes.sasl) {
        const isOffered = body.toString('latin1').split('\0').includes('SCRAM-SHA-256-PLUS');
        method = bindsChannel && isOffered ? 'scram-sha-256-plus' : 'scram-sha-256';
      }
      if (code === codes.saslContinue && !trustsServer) {
        // The smallest of several, because the package pg takes one of them.
        const pieces = body.toString('latin1').split(',');
        const counts = pieces.map((piece) => Number(/^i=0*(\d+)/.exec(piece)?.[1] ?? leastIterations));
        const iterations = Math.min(...counts);
        if (iterations < leastIterations) throw weakScramRefused(iterations);
      }
    },
  };
}

/**
 * Whether the password may be sent in clear text: only to a server whose identity is certain.
 * @param peer the address that the socket is connected to
 */
export function maySendCleartext(source: PostgresqlEndpoint, peer: string | undefined): boolean {
  return isTrustedServer(source) || isLoopbackPeer(peer);
}

/** Whether nothing that the server receives can harm: its certificate was verified, or there is no password to protect. */
function isTrustedServer({ ssl, verify, password, allowCleartextPassword }: PostgresqlEndpoint): boolean {
  const isVerified = ssl === 'require' && verifiesIdentity(verify);
  return password === undefined || allowCleartextPassword === true || isVerified;
}

/**
 * The server chooses the number of iterations, and with one of 1 the proof is as good as a plain hash of the password.
 * https://www.rfc-editor.org/rfc/rfc7677#section-4
 */
const leastIterations = 4096;

/**
 * The value of require_auth with which libpq (16 and newer) refuses a password in clear text if this program does;
 * undefined if clear text is allowed.
 * https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNECT-REQUIRE-AUTH
 */
export function requireAuthValue(source: PostgresqlEndpoint): string | undefined {
  const peer = source.address ?? (source.host === 'localhost' ? '127.0.0.1' : source.host);
  return maySendCleartext(source, peer) ? undefined : '!password';
}

const codes = { ok: 0, cleartext: 3, md5: 5, sasl: 10, saslContinue: 11, saslFinal: 12 } as const;

function isKnown(code: number): boolean {
  return Object.values<number>(codes).includes(code);
}

/** The authentication requests that may follow each request; the package pg reports unknown requests. */
const allowedAfter: ReadonlyMap<number | undefined, readonly number[]> = new Map([
  [undefined, [codes.ok, codes.cleartext, codes.md5, codes.sasl]],
  [codes.cleartext, [codes.ok]],
  [codes.md5, [codes.ok]],
  [codes.sasl, [codes.saslContinue]],
  [codes.saslContinue, [codes.saslFinal]],
  [codes.saslFinal, [codes.ok]],
]);
const noCodes: readonly number[] = [];

/** A server that ends SCRAM early does not prove that it knows the password. */
function outOfOrder(before: number | undefined): ConnectError {
  const isScram = before === codes.sasl || before === codes.saslContinue;
  return isScram
    ? new ConnectError(
        'startup',
        clientErrorCodes.serverProof,
        'the server did not prove that it knows the password (SCRAM)',
      )
    : new ConnectError('startup', clientErrorCodes.protocol, 'the server repeats its authentication request');
}

function weakScramRefused(iterations: number): ConnectError {
  return new ConnectError(
    'startup',
    clientErrorCodes.weakScram,
    `the server requests SCRAM with ${iterations} iterations, fewer than ${leastIterations}, and its certificate was not verified`,
  );
}

function cleartextRefused(): ConnectError {
  return new ConnectError(
    'startup',
    clientErrorCodes.cleartextPassword,
    'the server requests the password in clear text, and its certificate was not verified',
  );
}

/** Rejects with a DOMException: `TimeoutError` after the limit (milliseconds), `AbortError` when the signal comes first. */
function withTimeout<T>(work: Promise<T>, limit: number, signal: AbortSignal | undefined): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => finish(() => reject(new DOMException('the operation was aborted', 'AbortError')));
    const timer = setTimeout(
      () => finish(() => reject(new DOMException('the time limit has passed', 'TimeoutError'))),
      limit,
    );
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

interface ConnectOptions {
  readonly dbname: string;
  /** Time limit in milliseconds from the start of the connection until the server is ready for a statement. */
  readonly limit: number;
  readonly signal?: AbortSignal | undefined;
  /** Whether to open a replication connection (`replication=database`) instead of an SQL session. */
  readonly replication?: boolean;
  /** application_name, as pg_stat_activity shows it (default: `cloudctl-preflight`). */
  readonly applicationName?: string;
  /** A common memory limit for sessions whose responses are in memory at the same time (default: a limit per response). */
  readonly memory?: MemoryLimit | undefined;
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
  readonly tls: TlsInfo | undefined;
  /** With the method `trust` in pg_hba.conf the server does not request, and so does not verify, the password. */
  readonly authentication: AuthMethod;
  /** The message with which a pooler rejected `startupParameters`; undefined if the settings are in force. */
  readonly startupRefusal: string | undefined;
  /**
   * Sends one message of the simple query protocol. Returns the rows of each statement, in order.
   * @param limit milliseconds (default: 30 s), after which the session is closed
   * @throws QueryError; unless it is `lost`, the session can be used again
   */
  query(message: SafeSql, limit?: number): Promise<readonly (readonly PostgresqlRow[])[]>;
  /**
   * Sends a message with one `COPY … TO STDOUT` (https://www.postgresql.org/docs/current/sql-copy.html). If the
   * response is not read to its end, the session is closed. Throws a QueryError.
   */
  copyOut: CopyOut<SafeSql>;
  /** Runs `COPY … FROM STDIN`. Throws a QueryError. */
  copyIn(message: SafeSql): Promise<CopySink>;
  /** Closes the session within a second; never throws. */
  end(): Promise<void>;
}

/** Opens a session. Throws a ConnectError, and then leaves no socket open. */
export async function connectPostgresql(
  source: PostgresqlEndpoint,
  options: ConnectOptions,
): Promise<PostgresqlSession> {
  const begin = performance.now();
  try {
    const { resetSearchPath } = options;
    const settings =
      resetSearchPath === undefined ? startupParameters : { ...startupParameters, search_path: resetSearchPath };
    return { ...(await openSession(source, options, settings)), startupRefusal: undefined };
  } catch (error) {
    if (!(error instanceof ConnectError) || !isStartupRefusal(error)) throw error;
    const limit = Math.max(1, options.limit - (performance.now() - begin));
    return { ...(await openSession(source, { ...options, limit }, {})), startupRefusal: error.message };
  }
}

async function openSession(
  source: PostgresqlEndpoint,
  options: ConnectOptions,
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
  const guard = guardAuthentication(
    () => maySendCleartext(source, socket.remoteAddress),
    source.ssl === 'require',
    isTrustedServer(source),
  );
  const memory = options.memory ?? createLimit('statement');
  const connection = watchConnection(client, socket, source.ssl === 'require', (deliver) =>
    createMessageReader(deliver, guard.check, memory),
  );
  try {
    await withTimeout(client.connect(), options.limit, options.signal);
  } catch (error) {
    connection.drop();
    const step = { phase: connection.phase(), tls: connection.tls(), answered: socket.bytesRead > 0 };
    const failure = toConnectError(error, step, options.limit);
    const { phase, code, message, tls } = failure;
    const isBinding = guard.isScramOpen() && code === '28000';
    throw isBinding ? new ConnectError(phase, clientErrorCodes.channelBinding, message, tls) : failure;
  }
  return { ...createSession(client, connection, options.signal), authentication: guard.method() };
}

function createSession(
  client: Client,
  connection: ConnectionState,
  signal: AbortSignal | undefined,
): Omit<PostgresqlSession, 'authentication' | 'startupRefusal'> {
  const transport = {
    signal,
    drop: connection.drop,
    toError: (error: unknown) => toQueryError(connection.failure() ?? error, 0),
  };
  return {
    // The package pg reads the process id as a signed number, but poolers use all 32 bits.
    processId: client.processID === null ? undefined : client.processID >>> 0,
    tls: connection.tls(),
    async query(message, limit = 30_000) {
      connection.expectResponse();
      try {
        return await withTimeout(sendStatement(client, message), limit, signal);
      } catch (error) {
        const failure = toQueryError(connection.failure() ?? error, limit);
        if (failure.lost) connection.drop();
        throw failure;
      }
    },
    copyOut(message, take, messages = 'rows', ended = undefined) {
      connection.expectResponse(messages);
      return receiveCopy(client, transport, message, take, ended);
    },
    copyIn(message) {
      connection.expectResponse();
      return startCopy(client, transport, message);
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
  phase(): ConnectPhase;
  tls(): TlsInfo | undefined;
  /** The error that ended the connection while no statement was running. */
  failure(): Error | undefined;
  expectResponse: MessageReader['expectResponse'];
  drop(): void;
}

function watchConnection(
  client: Client,
  socket: Socket,
  encrypted: boolean,
  createReader: (deliver: (messages: Buffer) => void) => MessageReader,
): ConnectionState {
  let phase: ConnectPhase = 'network';
  let tls: TlsInfo | undefined;
  let failure: Error | undefined;
  socket.once('connect', () => {
    phase = encrypted ? 'tls' : 'startup';
  });
  client.connection.once('sslconnect', () => {
    const { stream } = client.connection;
    stream.once('secureConnect', () => {
      phase = 'startup';
      if (stream instanceof TLSSocket) tls = readTlsInfo(stream);
    });
  });
  client.on('error', (error: Error) => {
    failure ??= error;
  });
  let reader: MessageReader | undefined;
  const attach = client.connection.attachListeners;
  client.connection.attachListeners = (stream) => {
    const read = (deliver: (messages: Buffer) => void) => {
      reader = createReader(deliver);
      return reader;
    };
    attach.call(client.connection, createMessageStream(stream, read));
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

function startupError(code: keyof typeof clientErrorCodes, message: string): ConnectError {
  return new ConnectError('startup', clientErrorCodes[code], message);
}
