import { connect, type PgSession } from '../../postgresql/connection.ts';
import { ConnectError, ownCodes, QueryError } from '../../postgresql/failure.ts';
import type { PostgresSource } from '../../postgresql/source.ts';
import { searchAddress } from '../network/address.ts';
import type { AddressFacts, TlsFacts } from '../network/facts.ts';
import type { Names } from '../network/names.ts';
import type { Door, EnterLimits } from './door.ts';
import { identify } from './entry-identity.ts';
import { gatherTls } from './entry-tls.ts';
import type { Entry, Ground, ReplicationEntry } from './ground.ts';

export interface EnterOptions {
  readonly signal: AbortSignal;
  readonly limits?: Partial<EnterLimits> | undefined;
  readonly names?: Names | undefined;
  /** Hears every statement before it is sent. */
  readonly onSent?: ((database: string, text: string) => void) | undefined;
}

export interface WayIn {
  /** What the catalogue tells is not in it yet. */
  readonly ground: Ground;
  /** The session it was gathered on, to go on with; the caller ends it. undefined: not let in. */
  readonly session: PgSession | undefined;
  /** The source as every further connection should dial it. */
  readonly source: PostgresSource;
}

/** Everything that can be known before the catalogue is asked. Never throws for what the source does. */
export async function gatherGround(source: PostgresSource, options: EnterOptions): Promise<WayIn> {
  const limits = { address: 5000, connect: 10_000, query: 15_000, ...options.limits };
  const { signal, names } = options;
  const contradictions = source.contradictions ?? [];
  const search = searchAddress(source.host, source.port, { contradictions, limit: limits.address, signal, names });
  const open = await search.open;
  const dialled = open === undefined ? source : { ...source, address: open };
  const door: Door = { source: dialled, limits, signal, onSent: options.onSent ?? (() => {}) };
  const [address, inside] = await Promise.all([search.facts, open === undefined ? undefined : enter(door)]);
  return {
    source: dialled,
    session: inside?.session,
    ground: {
      dbname: source.dbname,
      username: source.username,
      address,
      tls: inside?.tls ?? { offered: 'not_asked' },
      entry: inside?.entry ?? unreachable(address),
      databases: [],
      reach: new Map(),
      copy: undefined,
      walRate: undefined,
      replication: inside?.replication,
    },
  };
}

interface Inside {
  readonly entry: Entry;
  readonly tls: TlsFacts;
  readonly replication: ReplicationEntry | undefined;
  readonly session: PgSession | undefined;
}

async function enter(door: Door): Promise<Inside> {
  const session = await attempt(door);
  if (session instanceof ConnectError) {
    const tls = await gatherTls(door, session);
    return { entry: refusal(session), tls, replication: undefined, session: undefined };
  }
  const [entry, tls, replication] = await Promise.all([
    identify(session, door),
    gatherTls(door, session),
    enterReplication(door),
  ]);
  if (entry.kind === 'entered') return { entry, tls, replication, session };
  await session.end();
  return { entry, tls, replication, session: undefined };
}

async function attempt(door: Door): Promise<PgSession | ConnectError> {
  const { source, limits, signal } = door;
  try {
    return await connect(source, { dbname: source.dbname, limit: limits.connect, signal });
  } catch (error) {
    if (error instanceof ConnectError) return error;
    throw error;
  }
}

/** A walsender that says who it is: the same login a subscription makes, which reads nothing and holds nothing. */
async function enterReplication(door: Door): Promise<ReplicationEntry> {
  const { source, limits, signal, onSent } = door;
  let session: PgSession | undefined;
  try {
    session = await connect(source, { dbname: source.dbname, limit: limits.connect, signal, replication: true });
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

function refusal({ phase, code, message }: ConnectError): Entry {
  if (phase === 'network') return { kind: 'unreachable', code, message };
  // A server never finds a fault in this startup message; those who stand before one do.
  const pooler = code === '08P01' ? 'it answers the login as only a pooler does (08P01)' : undefined;
  return { kind: 'refused', code, message, pooler };
}

function unreachable({ lookup, connects, host, port }: AddressFacts): Entry {
  if (lookup.kind === 'failed') return { kind: 'unreachable', code: lookup.code, message: `${host}: ${lookup.reason}` };
  const code = connects[0]?.error ?? ownCodes.timeout;
  return { kind: 'unreachable', code, message: `no address of ${host} takes a connection on port ${port}` };
}
