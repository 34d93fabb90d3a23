import { ConnectError, connectErrorCodes } from '../../platform/connect-error.ts';
import { connectPostgresql, type PostgresqlSession } from '../../postgresql/connection.ts';
import { QueryError } from '../../postgresql/query-error.ts';
import type { PostgresqlSource } from '../../postgresql/source.ts';
import { findReachableAddress } from '../network/find-reachable-address.ts';
import type { NameResolver } from '../network/name-resolver.ts';
import type { AddressFacts, TlsFacts } from '../network/network-facts.ts';
import { identifyServer } from './identify-server.ts';
import { probeTls } from './probe-tls.ts';
import type { ConnectTimeouts, SourceConnectOptions } from './source-connect-options.ts';
import type { PostgresqlConnectionResult, PostgresqlSourceFacts, ReplicationConnectionResult } from './source-facts.ts';

export interface OpenSourceOptions {
  readonly signal: AbortSignal;
  readonly timeouts?: Partial<ConnectTimeouts> | undefined;
  readonly names?: NameResolver | undefined;
  /** Hears every statement before it is sent. */
  readonly onSent?: ((database: string, text: string) => void) | undefined;
}

export interface OpenedPostgresqlSource {
  /** What the catalogue tells is not in it yet. */
  readonly facts: PostgresqlSourceFacts;
  /** The session it was gathered on, to go on with; the caller ends it. undefined: not let in. */
  readonly session: PostgresqlSession | undefined;
  /** The source as every further connection should dial it. */
  readonly source: PostgresqlSource;
}

/** Everything that can be known before the catalogue is asked. Never throws for what the source does. */
export async function openPostgresqlSource(
  source: PostgresqlSource,
  options: OpenSourceOptions,
): Promise<OpenedPostgresqlSource> {
  const limits = { address: 5000, connect: 10_000, query: 15_000, ...options.timeouts };
  const { signal, names } = options;
  const contradictions = source.contradictions ?? [];
  const search = findReachableAddress(source.host, source.port, {
    contradictions,
    limit: limits.address,
    signal,
    names,
  });
  const open = await search.firstReachable;
  const dialled = open === undefined ? source : { ...source, address: open };
  const door: SourceConnectOptions = {
    source: dialled,
    timeouts: limits,
    signal,
    onSent: options.onSent ?? (() => {}),
  };
  const [address, inside] = await Promise.all([search.facts, open === undefined ? undefined : logIn(door)]);
  return {
    source: dialled,
    session: inside?.session,
    facts: {
      dbname: source.dbname,
      username: source.username,
      address,
      tls: inside?.tls ?? { offered: 'not_asked' },
      connection: inside?.entry ?? unreachableLogin(address),
      databases: [],
      access: new Map(),
      copy: undefined,
      walRate: undefined,
      replication: inside?.replication,
    },
  };
}

interface LoginFacts {
  readonly entry: PostgresqlConnectionResult;
  readonly tls: TlsFacts;
  readonly replication: ReplicationConnectionResult | undefined;
  readonly session: PostgresqlSession | undefined;
}

async function logIn(door: SourceConnectOptions): Promise<LoginFacts> {
  const session = await tryConnect(door);
  if (session instanceof ConnectError) {
    const tls = await probeTls(door, session);
    return { entry: refusedLogin(session), tls, replication: undefined, session: undefined };
  }
  const [entry, tls, replication] = await Promise.all([
    identifyServer(session, door),
    probeTls(door, session),
    logInForReplication(door),
  ]);
  if (entry.kind === 'entered') return { entry, tls, replication, session };
  await session.end();
  return { entry, tls, replication, session: undefined };
}

async function tryConnect(door: SourceConnectOptions): Promise<PostgresqlSession | ConnectError> {
  const { source, timeouts: limits, signal } = door;
  try {
    return await connectPostgresql(source, { dbname: source.dbname, limit: limits.connect, signal });
  } catch (error) {
    if (error instanceof ConnectError) return error;
    throw error;
  }
}

/** A walsender that says who it is: the same login a subscription makes, which reads nothing and holds nothing. */
async function logInForReplication(door: SourceConnectOptions): Promise<ReplicationConnectionResult> {
  const { source, timeouts: limits, signal, onSent } = door;
  let session: PostgresqlSession | undefined;
  try {
    session = await connectPostgresql(source, {
      dbname: source.dbname,
      limit: limits.connect,
      signal,
      replication: true,
    });
    onSent(source.dbname, 'IDENTIFY_SYSTEM');
    await session.query('IDENTIFY_SYSTEM', limits.query);
    return { kind: 'entered' };
  } catch (error) {
    if (error instanceof ConnectError || error instanceof QueryError) {
      return { kind: 'refused', code: error.code, message: error.message };
    }
    throw error;
  } finally {
    await session?.end();
  }
}

function refusedLogin({ phase, code, message }: ConnectError): PostgresqlConnectionResult {
  if (phase === 'network') return { kind: 'unreachable', code, message };
  // A server never finds a fault in this startup message; those who stand before one do.
  const pooler = code === '08P01' ? 'it answers the login as only a pooler does (08P01)' : undefined;
  return { kind: 'refused', code, message, pooler };
}

function unreachableLogin({ lookup, connects, host, port }: AddressFacts): PostgresqlConnectionResult {
  if (lookup.kind === 'failed') return { kind: 'unreachable', code: lookup.code, message: `${host}: ${lookup.reason}` };
  const code = connects[0]?.error ?? connectErrorCodes.timeout;
  return { kind: 'unreachable', code, message: `no address of ${host} takes a connection on port ${port}` };
}
