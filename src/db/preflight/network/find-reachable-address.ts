import { isIP, Socket } from 'node:net';
import { readErrorCode } from '../../../platform/build-network-http-send-error.ts';
import { createSystemHostNameResolver, type HostNameResolver, limitHostNameLookupTime } from './name-resolver.ts';
import type { ConnectAttempt, HostNameLookupResult, SourceAddressFacts } from './network-facts.ts';
import { nonPublicNameReason } from './public-address.ts';

interface ReachableAddressSearchOptions {
  readonly contradictions: readonly string[];
  /** Time limits in milliseconds for resolving a name, and for each connection. */
  readonly limit: number;
  readonly signal: AbortSignal;
  readonly names?: HostNameResolver | undefined;
}

interface ReachableAddressSearch {
  /**
   * The first address that accepted a connection, IPv4 preferred; undefined if no address accepted one, or if there is
   * no address.
   */
  readonly firstReachable: Promise<string | undefined>;
  /**
   * All address facts, complete after every name server and every address has responded or timed out. Never rejects.
   */
  readonly facts: Promise<SourceAddressFacts>;
}

/** Resolves the host name and opens one connection to every address, all at the same time. */
export function findReachableAddress(
  host: string,
  port: number,
  options: ReachableAddressSearchOptions,
): ReachableAddressSearch {
  const literal: HostNameLookupResult | undefined = isIP(host) === 0 ? undefined : { kind: 'found', addresses: [host] };
  const names = options.names ?? createSystemHostNameResolver(options.limit);
  const resolve = (query: (host: string) => Promise<readonly string[]>) =>
    literal === undefined ? limitHostNameLookupTime(query(host), options.limit) : Promise.resolve(literal);
  // Name servers are not queried for a local name: a public one does not know it, and an unreachable one would cost its
  // whole timeout.
  const own = literal === undefined ? nonPublicNameReason(host) : undefined;
  const resolveDns = (query: (host: string) => Promise<readonly string[]>) =>
    own === undefined
      ? resolve(query)
      : Promise.resolve<HostNameLookupResult>({ kind: 'failed', code: 'NOT_ASKED', reason: own });
  const lookup = resolve(names.lookup);
  const tries = lookup.then((answer) =>
    answer.kind === 'found' ? answer.addresses.map((address) => tryConnect(address, port, options)) : [],
  );
  return { firstReachable: tries.then(firstConnected), facts: collect() };

  async function collect(): Promise<SourceAddressFacts> {
    const [found, dns4, dns6, connects] = await Promise.all([
      lookup,
      resolveDns(names.resolve4),
      resolveDns(names.resolve6),
      tries.then((all) => Promise.all(all)),
    ]);
    const kind = literal === undefined ? 'name' : 'address';
    return { host, port, kind, contradictions: options.contradictions, lookup: found, dns4, dns6, connects };
  }
}

/** Opens one TCP connection and closes it as soon as it is established. */
function tryConnect(address: string, port: number, options: ReachableAddressSearchOptions): Promise<ConnectAttempt> {
  const began = performance.now();
  const socket = new Socket();
  return new Promise((resolve) => {
    const settle = (error?: string) => {
      clearTimeout(timer);
      options.signal.removeEventListener('abort', stop);
      socket.destroy();
      const took = Math.round(performance.now() - began);
      resolve({ address, took, ...(error === undefined ? {} : { error }) });
    };
    const stop = () => settle('ABORTED');
    const timer = setTimeout(() => settle('ETIMEDOUT'), options.limit);
    options.signal.addEventListener('abort', stop);
    socket.once('connect', () => settle());
    socket.on('error', (error) => settle(readErrorCode(error) ?? 'ECONNRESET'));
    socket.connect({ host: address, port });
    if (options.signal.aborted) stop();
  });
}

/** Prefers IPv4, because the host rule in the documentation of the service is for IPv4 (0.0.0.0/0). */
async function firstConnected(tries: readonly Promise<ConnectAttempt>[]): Promise<string | undefined> {
  const opened = tries.map(async (each) => {
    const { address, error } = await each;
    if (error !== undefined) throw new Error(error);
    if (isIP(address) === 6 && tries.length > 1) await new Promise((resolve) => setTimeout(resolve, headStart));
    return address;
  });
  return Promise.any(opened).catch(() => undefined);
}

/** Milliseconds. */
const headStart = 250;
