import { clientSideDatabaseErrorCodes, DatabaseConnectError } from '../../platform/connect-error.ts';
import { createDatabaseResponseMemoryLimit, type DatabaseResponseMemoryLimit } from '../../platform/response-memory.ts';
import { connectPostgresql, type PostgresqlSession } from '../../postgresql/connection.ts';
import type { PostgresqlEndpoint } from '../../postgresql/endpoint.ts';
import { PostgresqlQueryError } from '../../postgresql/query-error.ts';
import { buildReadOnlyTransactionSql, searchPathSafeIdentifySystemSql } from '../../postgresql/search-path-safe-sql.ts';
import { findReachableAddress } from '../network/find-reachable-address.ts';
import type { HostNameResolver } from '../network/name-resolver.ts';
import type { SourceAddressFacts, TlsFacts } from '../network/network-facts.ts';
import { determinePostgresqlTlsFacts } from './determine-tls-facts.ts';
import { diagnoseUnansweredPostgresqlLogin } from './diagnose-unanswered-postgresql-login.ts';
import {
  decodePostgresqlInstanceIdentity,
  instanceIdentitySql,
  type PostgresqlInstanceIdentity,
} from './queries/server-instances.ts';
import { readServerVersionAndDetectPooler } from './read-server-version-and-detect-pooler.ts';
import type { PostgresqlConnectAndQueryTimeouts, PostgresqlSourceConnectOptions } from './source-connect-options.ts';
import type { PostgresqlConnectionResult, PostgresqlSourceFacts, ReplicationConnectionResult } from './source-facts.ts';

export interface OpenPostgresqlSourceOptions {
  readonly signal: AbortSignal;
  /** Time limits (default: 5 s for the address, 10 s to connect, 15 s for a statement). */
  readonly timeouts?: Partial<PostgresqlConnectAndQueryTimeouts> | undefined;
  readonly names?: HostNameResolver | undefined;
  /** Memory limit that all sessions with this source share (default: a new limit of this session). */
  readonly memory?: DatabaseResponseMemoryLimit | undefined;
  /** Called with every statement before it is sent to the source. */
  readonly onSend?: ((database: string, text: string) => void) | undefined;
}

export interface PostgresqlSourceOpenResult {
  /** Facts about the source that are known before the catalogs are read. The list of databases is not among them. */
  readonly facts: PostgresqlSourceFacts;
  /** The open session, which the caller must end; undefined if the connection failed. */
  readonly session: PostgresqlSession | undefined;
  /** The source with the IP address that every further connection uses. */
  readonly source: PostgresqlEndpoint;
  /** Memory limit that all sessions with this source share. */
  readonly memory: DatabaseResponseMemoryLimit;
}

/**
 * Looks up the host of the source, connects and logs in. A failed connection is part of the result and does not throw.
 */
export async function openPostgresqlSource(
  source: PostgresqlEndpoint,
  {
    signal,
    names,
    timeouts: given,
    memory = createDatabaseResponseMemoryLimit('session'),
    onSend = () => {},
  }: OpenPostgresqlSourceOptions,
): Promise<PostgresqlSourceOpenResult> {
  const timeouts = { address: 5000, connect: 10_000, query: 15_000, ...given };
  const contradictions = source.contradictions ?? [];
  const limit = timeouts.address;
  const search = findReachableAddress(source.host, source.port, { contradictions, limit, signal, names });
  const reachable = await search.firstReachable;
  const dialled = reachable === undefined ? source : { ...source, address: reachable };
  const options: PostgresqlSourceConnectOptions = { source: dialled, timeouts, signal, memory, onSend };
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
  readonly replication: ReplicationConnectionResult | undefined;
  readonly session: PostgresqlSession | undefined;
}

async function logIn(options: PostgresqlSourceConnectOptions): Promise<LoginFacts> {
  const session = await tryLogin(options);
  if (session instanceof DatabaseConnectError) {
    const isSilent = session.code === clientSideDatabaseErrorCodes.timeout && session.phase !== 'network';
    const [tls, silence] = await Promise.all([
      determinePostgresqlTlsFacts(options, session),
      isSilent ? diagnoseUnansweredPostgresqlLogin(options, Math.min(3000, options.timeouts.connect)) : undefined,
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
    readServerVersionAndDetectPooler(session, options),
    determinePostgresqlTlsFacts(options, session),
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
}: PostgresqlSourceConnectOptions): Promise<PostgresqlSession | DatabaseConnectError> {
  try {
    return await connectPostgresql(source, { dbname: source.dbname, limit: timeouts.connect, signal, memory });
  } catch (error) {
    if (error instanceof DatabaseConnectError) return error;
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
}: PostgresqlSourceConnectOptions): Promise<ReplicationConnectionResult> {
  let session: PostgresqlSession | undefined;
  try {
    const limit = timeouts.connect;
    session = await connectPostgresql(source, { dbname: source.dbname, limit, signal, replication: true });
    onSend(source.dbname, searchPathSafeIdentifySystemSql);
    await session.query(searchPathSafeIdentifySystemSql, timeouts.query);
    onSend(source.dbname, instanceMessage);
    return { kind: 'entered', instance: await readInstance(session, timeouts.query) };
  } catch (error) {
    if (error instanceof DatabaseConnectError || error instanceof PostgresqlQueryError) {
      return { kind: 'refused', code: error.code, message: error.message };
    }
    throw error;
  } finally {
    await session?.end();
  }
}

/** A replication connection to a database accepts queries too (PostgreSQL 10 and newer). */
async function readInstance(
  session: PostgresqlSession,
  limit: number,
): Promise<PostgresqlInstanceIdentity | undefined> {
  try {
    const row = (await session.query(instanceMessage, limit)).flat()[0];
    return row === undefined ? undefined : decodePostgresqlInstanceIdentity(row);
  } catch (error) {
    if (error instanceof PostgresqlQueryError) return undefined;
    throw error;
  }
}

const instanceMessage = buildReadOnlyTransactionSql([instanceIdentitySql]);

function refused({ phase, code, message }: DatabaseConnectError): PostgresqlConnectionResult {
  if (phase === 'network') return { kind: 'unreachable', code, message };
  // Only a pooler rejects the startup message as a protocol violation, because the message is valid for every server.
  const pooler = code === '08P01' ? 'only a pooler rejects the login with a protocol violation (08P01)' : undefined;
  return { kind: 'refused', code, message, pooler };
}

function unreachable({ lookup, connects, host, port }: SourceAddressFacts): PostgresqlConnectionResult {
  if (lookup.kind === 'failed') return { kind: 'unreachable', code: lookup.code, message: `${host}: ${lookup.reason}` };
  const code = connects[0]?.error ?? clientSideDatabaseErrorCodes.timeout;
  return { kind: 'unreachable', code, message: `no address of ${host} accepts a connection on port ${port}` };
}
