import { isIP, Socket } from 'node:net';
import { codeOf } from '../../platform/network-failure.ts';
import type { AddressFacts, ConnectTry, Resolved } from './facts.ts';
import { type Names, resolved, systemNames } from './names.ts';
import { notPublicName } from './reach.ts';

export interface AddressOptions {
  readonly contradictions: readonly string[];
  /** Milliseconds for a name, and for each connection. */
  readonly limit: number;
  readonly signal: AbortSignal;
  readonly names?: Names | undefined;
}

export interface AddressSearch {
  /** The address to dial: the first that took a connection, IPv4 before IPv6. undefined: none did, or there is none. */
  readonly open: Promise<string | undefined>;
  /** Everything, once every name server and every address had its time. Never rejects. */
  readonly facts: Promise<AddressFacts>;
}

/** Looks the host up and tries every address once, all at the same time. */
export function searchAddress(host: string, port: number, options: AddressOptions): AddressSearch {
  const literal: Resolved | undefined = isIP(host) === 0 ? undefined : { kind: 'found', addresses: [host] };
  const names = options.names ?? systemNames(options.limit);
  const ask = (question: (host: string) => Promise<readonly string[]>) =>
    literal === undefined ? resolved(question(host), options.limit) : Promise.resolve(literal);
  // A name server far away knows nothing of such a name, and one that is not there would be waited for.
  const own = literal === undefined ? notPublicName(host) : undefined;
  const askDns = (question: (host: string) => Promise<readonly string[]>) =>
    own === undefined ? ask(question) : Promise.resolve<Resolved>({ kind: 'failed', code: 'NOT_ASKED', reason: own });
  const lookup = ask(names.lookup);
  const tries = lookup.then((answer) =>
    answer.kind === 'found' ? answer.addresses.map((address) => tryAddress(address, port, options)) : [],
  );
  return { open: tries.then(firstOpen), facts: gather() };

  async function gather(): Promise<AddressFacts> {
    const [found, dns4, dns6, connects] = await Promise.all([
      lookup,
      askDns(names.resolve4),
      askDns(names.resolve6),
      tries.then((all) => Promise.all(all)),
    ]);
    const kind = literal === undefined ? 'name' : 'address';
    return { host, port, kind, contradictions: options.contradictions, lookup: found, dns4, dns6, connects };
  }
}

/** One TCP connection, closed as soon as it stands. */
function tryAddress(address: string, port: number, options: AddressOptions): Promise<ConnectTry> {
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
    socket.on('error', (error) => settle(codeOf(error) ?? 'ECONNRESET'));
    socket.connect({ host: address, port });
    if (options.signal.aborted) stop();
  });
}

/** IPv4 has a head start: it is what the service is documented to use, and what its host rule names. */
async function firstOpen(tries: readonly Promise<ConnectTry>[]): Promise<string | undefined> {
  const opened = tries.map(async (each) => {
    const { address, error } = await each;
    if (error !== undefined) throw new Error(error);
    if (isIP(address) === 6 && tries.length > 1) await new Promise((resolve) => setTimeout(resolve, headStart));
    return address;
  });
  return Promise.any(opened).catch(() => undefined);
}

const headStart = 250;
