import { connect, type RedisSession } from '../../redis/connection.ts';
import { ConnectError, ownCodes } from '../../redis/failure.ts';
import type { RedisSource } from '../../redis/source.ts';
import { searchAddress } from '../network/address.ts';
import type { AddressFacts, TlsFacts } from '../network/facts.ts';
import type { Entry } from './ground.ts';

export interface WayIn {
  readonly address: AddressFacts;
  readonly tls: TlsFacts;
  readonly entry: Entry;
  /** undefined: not entered. Whoever has it ends it. */
  readonly session: RedisSession | undefined;
  /** With the address that was dialled. */
  readonly source: RedisSource;
  /** What was said on the way. */
  readonly sent: readonly string[];
}

/** Milliseconds for a name, for TCP, and for TLS with AUTH and PING. */
const patience = 5000;

/** Looks the host up, dials, and says who we are. What goes wrong is a fact, not an error. */
export async function enterSource(given: RedisSource, signal: AbortSignal): Promise<WayIn> {
  const search = searchAddress(given.host, given.port, { contradictions: [], limit: patience, signal });
  const open = await search.open;
  const sent = [...(given.password === undefined ? [] : ['AUTH (not shown)']), 'PING'];
  if (open === undefined) {
    const address = await search.facts;
    return { address, tls: notAsked, entry: unreachable(address), session: undefined, source: given, sent: [] };
  }
  const source = { ...given, address: open };
  try {
    const [session, address] = await Promise.all([connect(source, { limit: patience, signal }), search.facts]);
    const tls: TlsFacts = session.tls === undefined ? notAsked : { offered: 'yes', ...session.tls };
    return { address, tls, entry: { kind: 'entered', ...session.entered }, session, source, sent };
  } catch (error) {
    if (!(error instanceof ConnectError)) throw error;
    const { phase, code, message } = error;
    const entry: Entry = { kind: 'refused', phase, code, message };
    return { address: await search.facts, tls: tlsOf(error), entry, session: undefined, source, sent };
  }
}

/** Nobody says AUTH without a password, whatever name was given: a replica does not either. */
export function userOf({ username }: RedisSource, entry: Entry): string {
  return entry.kind === 'entered' && entry.auth === 'password' ? (username ?? 'default') : 'default';
}

const notAsked: TlsFacts = { offered: 'not_asked' };

function tlsOf({ phase, code, message }: ConnectError): TlsFacts {
  if (code === ownCodes.noTls) return { offered: 'no', plaintext: 'accepted' };
  if (code === ownCodes.onlyTls) return { offered: 'yes', plaintext: 'refused' };
  return phase === 'tls' ? { offered: 'yes', failure: message } : notAsked;
}

function unreachable(address: AddressFacts): Entry {
  const code = address.connects.find(({ error }) => error !== undefined)?.error ?? 'ENOTFOUND';
  const message = address.lookup.kind === 'failed' ? address.lookup.reason : `no connection (${code})`;
  return { kind: 'refused', phase: 'network', code, message };
}
