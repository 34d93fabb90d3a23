import { sanitizeLine } from '../../../base/sanitize.ts';
import { createLimit, type MemoryLimit } from '../../../platform/memory.ts';
import { ConnectError, clientErrorCodes, type TlsInfo } from '../../../platform/network-errors.ts';
import { connectPostgresql, type PostgresqlSession, startupParameters } from '../../../postgresql/connection.ts';
import { type PostgresqlEndpoint, verifiesIdentity } from '../../../postgresql/endpoint.ts';
import { QueryError } from '../../../postgresql/query-error.ts';
import type { PostgresqlRow } from '../../../postgresql/rows.ts';
import {
  identifySystemSql,
  probeSql,
  readOnlySql,
  rollbackSql,
  type SafeSql,
  showVersionSql,
} from '../../../postgresql/search-path-safe-sql.ts';
import { type AddressFacts, findReachable, type NameResolver, type TlsFacts } from '../network/addresses.ts';
import { diagnoseLogin, type SourceConnectOptions, type SourceTimeouts } from './login.ts';
import { decodeInstance, type InstanceIdentity, instanceSql } from './queries/cluster.ts';
import { preflightTransaction } from './query.ts';
import type { PostgresqlConnectionResult, PostgresqlFacts, ReplicationResult } from './source-facts.ts';

/**
 * Reads the version and the state of the server on a new session, and detects whether a connection pooler is in
 * between.
 */
async function readServerVersion(
  session: PostgresqlSession,
  { source, timeouts, onSend }: SourceConnectOptions,
): Promise<PostgresqlConnectionResult> {
  const send: SendMessage = (text) => {
    onSend(source.dbname, text);
    return session.query(text, timeouts.query);
  };
  try {
    const pid = wholeNumberIn(firstRow(await send(pidMessage)), 'pid');
    const row = await readIdentity(send);
    const version = wholeNumberIn(row, 'v');
    if (version === undefined) return { kind: 'refused', code: 'PROTOCOL', message: 'server_version_num is missing' };
    return {
      kind: 'entered',
      version,
      versionText: sanitizeLine(row?.ver ?? ''),
      inRecovery: row?.rec === 't',
      superuser: row?.su === 'on',
      pooler: poolerEvidence(session.processId, pid, wholeNumberIn(row, 'pid')) ?? session.startupRefusal,
      startupRefusal: session.startupRefusal ?? ignoredSettings(row),
      ssl: session.tls !== undefined,
      authentication: session.authentication,
      serverPort: wholeNumberIn(row, 'port'),
    };
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    const pooler = error.lost ? undefined : await poolerByName(send);
    return { kind: 'refused', code: error.code, message: error.message, pooler, asked: true };
  }
}

type SendMessage = (text: SafeSql) => Promise<readonly (readonly PostgresqlRow[])[]>;

/** The first message of the session; a pooler in transaction mode assigns a server process to it. */
const pidMessage = probeSql('SELECT pg_backend_pid() AS pid');

const identityQuery = `
  SELECT
    current_setting('server_version_num') AS v,
    version() AS ver,
    pg_is_in_recovery() AS rec,
    current_setting('is_superuser') AS su,
    inet_server_port() AS port,
    (SELECT reset_val FROM pg_settings WHERE name = 'search_path') AS path,
    pg_backend_pid() AS pid
`;

const shortIdentityMessage = probeSql("SELECT current_setting('server_version_num') AS v, version() AS ver");

/** Products that imitate PostgreSQL may lack functions, or settings that the read-only transaction uses. */
async function readIdentity(send: SendMessage): Promise<PostgresqlRow | undefined> {
  try {
    return firstRow(await send(preflightTransaction([identityQuery])));
  } catch (error) {
    if (!(error instanceof QueryError) || error.lost) throw error;
    await send(rollbackSql);
    return firstRow(await send(shortIdentityMessage));
  }
}

/** Without a pooler, the same server process answers the login and every statement. */
function poolerEvidence(
  atLogin: number | undefined,
  first: number | undefined,
  later: number | undefined,
): string | undefined {
  if (first === undefined) return undefined;
  if (atLogin === undefined) return `no process was reported at login, and process ${first} ran the first statement`;
  if (atLogin !== first)
    return `process ${atLogin} was reported at login, and process ${first} ran the first statement`;
  return later === undefined || later === first
    ? undefined
    : `process ${first} ran the first statement, and process ${later} a later one`;
}

/**
 * A pooler may accept the settings of the startup message without passing them on; reset_val shows the values that the
 * session began with.
 */
function ignoredSettings(row: PostgresqlRow | undefined): string | undefined {
  return row?.path == null || row.path === startupParameters.search_path
    ? undefined
    : 'the settings of the startup message were not passed on';
}

/** The admin console of a pooler rejects SELECT, but reports its product in response to SHOW VERSION. */
async function poolerByName(send: SendMessage): Promise<string | undefined> {
  try {
    const row = firstRow(await send(showVersionSql));
    const name = Object.values(row ?? {}).find((value) => /bouncer|odyssey|pgcat|pgpool/i.test(value ?? ''));
    return name == null ? undefined : sanitizeLine(name);
  } catch (error) {
    if (error instanceof QueryError) return undefined;
    throw error;
  }
}

function firstRow(sets: readonly (readonly PostgresqlRow[])[]): PostgresqlRow | undefined {
  return sets.flat()[0];
}

function wholeNumberIn(row: PostgresqlRow | undefined, name: string): number | undefined {
  const value = row?.[name];
  return value == null || !/^\d+$/.test(value) ? undefined : Number(value);
}

/**
 * Determines the TLS facts from a session, or from the error of a failed login. If the login may succeed with the other
 * TLS setting (with TLS instead of without, or the reverse), the function opens a second connection with that setting.
 * It sends no password, and finds out whether pg_hba.conf accepts the connection.
 */
async function findTlsFacts(
  options: SourceConnectOptions,
  result: PostgresqlSession | ConnectError,
): Promise<TlsFacts> {
  const refused = result instanceof ConnectError ? result : undefined;
  if (refused !== undefined && (refused.phase === 'network' || codesWithoutTlsAnswer.has(refused.code))) {
    return { offered: 'not_asked', ...sessionTlsFacts(refused.tls) };
  }
  if (options.source.ssl === 'disable') return probeWithTls(options, refused);
  if (refused?.code === clientErrorCodes.noTls) {
    const attempt = await connectWithoutPassword(options, 'disable');
    return { offered: 'no', plaintext: attempt.passedHostRules ? 'accepted' : 'refused' };
  }
  if (refused?.phase === 'tls') return { offered: 'yes', failure: refused.message };
  const verified = refused === undefined && verifiesIdentity(options.source.verify);
  return { offered: 'yes', ...sessionTlsFacts(result.tls), ...(verified ? { verified } : {}) };
}

/** Finds out whether the server supports TLS, after a connection that was made without TLS as requested. */
async function probeWithTls(options: SourceConnectOptions, refused: ConnectError | undefined): Promise<TlsFacts> {
  const attempt = await connectWithoutPassword(options, 'require');
  if (attempt.code === clientErrorCodes.noTls) return { offered: 'no', ...plaintextFacts(refused, false) };
  if (attempt.phase === 'tls') return { offered: 'yes', failure: attempt.message, ...plaintextFacts(refused, false) };
  return { offered: 'yes', ...sessionTlsFacts(attempt.tls), ...plaintextFacts(refused, attempt.passedHostRules) };
}

/** If pg_hba.conf refuses the connection without TLS and accepts it with TLS, it requires TLS. */
function plaintextFacts(refused: ConnectError | undefined, passedWithTls: boolean): Pick<TlsFacts, 'plaintext'> {
  if (refused === undefined || refused.code !== noHostRule) return { plaintext: 'accepted' };
  return passedWithTls ? { plaintext: 'refused' } : {};
}

interface LoginAttempt {
  /** Whether pg_hba.conf accepted the connection, so that the login got at least as far as the password request. */
  readonly passedHostRules: boolean;
  readonly phase?: string;
  readonly code?: string;
  readonly message: string;
  readonly tls?: TlsInfo | undefined;
}

/** Connects until the server requests the password, so that no password is sent without TLS. */
async function connectWithoutPassword(
  { source, timeouts, signal }: SourceConnectOptions,
  ssl: 'require' | 'disable',
): Promise<LoginAttempt> {
  const withoutPassword = { ...source, ssl, password: undefined };
  try {
    const session = await connectPostgresql(withoutPassword, {
      dbname: source.dbname,
      limit: timeouts.connect,
      signal,
    });
    await session.end();
    return { passedHostRules: true, message: '', tls: session.tls };
  } catch (error) {
    if (!(error instanceof ConnectError)) throw error;
    const { phase, code, message, tls } = error;
    return { passedHostRules: phase === 'startup' && code !== noHostRule, phase, code, message, tls };
  }
}

/** Codes of connection errors that do not show whether the server supports TLS. */
const codesWithoutTlsAnswer: ReadonlySet<string> = new Set([
  clientErrorCodes.protocol,
  clientErrorCodes.timeout,
  clientErrorCodes.closed,
  clientErrorCodes.aborted,
]);

/**
 * SQLSTATE 28000, invalid_authorization_specification: no line of pg_hba.conf matches, a line rejects the client, or
 * the role lacks LOGIN.
 */
const noHostRule = '28000';

function sessionTlsFacts(tls: TlsInfo | undefined): Partial<TlsFacts> {
  const { version, certificate } = tls ?? {};
  return { ...(version === undefined ? {} : { version }), ...(certificate === undefined ? {} : { certificate }) };
}

interface OpenOptions {
  readonly signal: AbortSignal;
  /** Time limits (default: 5 s for the address, 10 s to connect, 15 s for a statement). */
  readonly timeouts?: Partial<SourceTimeouts> | undefined;
  readonly names?: NameResolver | undefined;
  /** Memory limit that all sessions with this source share (default: a new limit of this session). */
  readonly memory?: MemoryLimit | undefined;
  /** Called with every statement before it is sent to the source. */
  readonly onSend?: ((database: string, text: string) => void) | undefined;
}

export interface OpenedPostgresql {
  /** Facts about the source that are known before the catalogs are read. The list of databases is not among them. */
  readonly facts: PostgresqlFacts;
  /** The open session, which the caller must end; undefined if the connection failed. */
  readonly session: PostgresqlSession | undefined;
  /** The source with the IP address that every further connection uses. */
  readonly source: PostgresqlEndpoint;
  /** Memory limit that all sessions with this source share. */
  readonly memory: MemoryLimit;
}

/**
 * Looks up the host of the source, connects and logs in. A failed connection is part of the result and does not throw.
 */
export async function openPostgresqlSource(
  source: PostgresqlEndpoint,
  { signal, names, timeouts: given, memory = createLimit('session'), onSend = () => {} }: OpenOptions,
): Promise<OpenedPostgresql> {
  const timeouts = { address: 5000, connect: 10_000, query: 15_000, ...given };
  const contradictions = source.contradictions ?? [];
  const limit = timeouts.address;
  const search = findReachable(source.host, source.port, { contradictions, limit, signal, names });
  const reachable = await search.firstReachable;
  const dialled = reachable === undefined ? source : { ...source, address: reachable };
  const options: SourceConnectOptions = { source: dialled, timeouts, signal, memory, onSend };
  const [address, login] = await Promise.all([search.facts, reachable === undefined ? undefined : logIn(options)]);
  return {
    source: dialled,
    memory,
    session: login?.session,
    facts: {
      dbname: source.dbname,
      username: source.username,
      address,
      tls: login?.tls ?? { offered: 'not_asked' },
      connection: login?.connection ?? unreachable(address),
      databases: [],
      access: new Map(),
      copy: undefined,
      walRate: undefined,
      replication: login?.replication,
    },
  };
}

interface LoginFacts {
  readonly connection: PostgresqlConnectionResult;
  readonly tls: TlsFacts;
  readonly replication: ReplicationResult | undefined;
  readonly session: PostgresqlSession | undefined;
}

async function logIn(options: SourceConnectOptions): Promise<LoginFacts> {
  const session = await tryLogin(options);
  if (session instanceof ConnectError) {
    const isSilent = session.code === clientErrorCodes.timeout && session.phase !== 'network';
    const [tls, silence] = await Promise.all([
      findTlsFacts(options, session),
      isSilent ? diagnoseLogin(options, Math.min(3000, options.timeouts.connect)) : undefined,
    ]);
    const connection = refused(session);
    return {
      connection: silence === undefined || connection.kind !== 'refused' ? connection : { ...connection, silence },
      tls,
      replication: undefined,
      session: undefined,
    };
  }
  const [connection, tls, replication] = await Promise.all([
    readServerVersion(session, options),
    findTlsFacts(options, session),
    connectForReplication(options),
  ]);
  if (connection.kind === 'entered') return { connection, tls, replication, session };
  await session.end();
  return { connection, tls, replication, session: undefined };
}

async function tryLogin({
  source,
  timeouts,
  signal,
  memory,
}: SourceConnectOptions): Promise<PostgresqlSession | ConnectError> {
  try {
    return await connectPostgresql(source, { dbname: source.dbname, limit: timeouts.connect, signal, memory });
  } catch (error) {
    if (error instanceof ConnectError) return error;
    throw error;
  }
}

/**
 * Opens the same kind of replication connection as a subscription opens. IDENTIFY_SYSTEM reads no WAL and creates no
 * slot.
 */
async function connectForReplication({
  source,
  timeouts,
  signal,
  onSend,
}: SourceConnectOptions): Promise<ReplicationResult> {
  let session: PostgresqlSession | undefined;
  try {
    const limit = timeouts.connect;
    session = await connectPostgresql(source, { dbname: source.dbname, limit, signal, replication: true });
    onSend(source.dbname, identifySystemSql);
    await session.query(identifySystemSql, timeouts.query);
    onSend(source.dbname, instanceMessage);
    return { kind: 'entered', instance: await readInstance(session, timeouts.query) };
  } catch (error) {
    if (error instanceof ConnectError || error instanceof QueryError) {
      return { kind: 'refused', code: error.code, message: error.message };
    }
    throw error;
  } finally {
    await session?.end();
  }
}

/** A replication connection to a database accepts queries too (PostgreSQL 10 and newer). */
async function readInstance(session: PostgresqlSession, limit: number): Promise<InstanceIdentity | undefined> {
  try {
    const row = (await session.query(instanceMessage, limit)).flat()[0];
    return row === undefined ? undefined : decodeInstance(row);
  } catch (error) {
    if (error instanceof QueryError) return undefined;
    throw error;
  }
}

const instanceMessage = readOnlySql([instanceSql]);

function refused({ phase, code, message }: ConnectError): PostgresqlConnectionResult {
  if (phase === 'network') return { kind: 'unreachable', code, message };
  // Only a pooler rejects the startup message as a protocol violation, because the message is valid for every server.
  const pooler = code === '08P01' ? 'only a pooler rejects the login with a protocol violation (08P01)' : undefined;
  return { kind: 'refused', code, message, pooler };
}

function unreachable({ lookup, connects, host, port }: AddressFacts): PostgresqlConnectionResult {
  if (lookup.kind === 'failed') return { kind: 'unreachable', code: lookup.code, message: `${host}: ${lookup.reason}` };
  const code = connects[0]?.error ?? clientErrorCodes.timeout;
  return { kind: 'unreachable', code, message: `no address of ${host} accepts a connection on port ${port}` };
}
