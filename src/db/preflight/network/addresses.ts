import { lookup, Resolver } from 'node:dns/promises';
import { BlockList, isIP, Socket } from 'node:net';
import { readErrorCode } from '../../../platform/network-errors.ts';

/** Facts about the source that are known before the login: its addresses and connections. */
export interface AddressFacts {
  /** The host as the user gave it, without the brackets of IPv6. */
  readonly host: string;
  readonly port: number;
  /** `address`: an IP literal; `name`: a DNS name. */
  readonly kind: 'address' | 'name';
  /** Contradictions between a connection string in the host field and the other fields; empty when there are none. */
  readonly contradictions: readonly string[];
  /** The result of the resolver of this machine, which uses the hosts file and the name servers of a VPN. */
  readonly lookup: LookupResult;
  /** The result of a DNS query; for an address literal the literal itself. */
  readonly dns4: LookupResult;
  readonly dns6: LookupResult;
  /** One connection attempt for each address, in order; empty when there is no address. */
  readonly connects: readonly ConnectAttempt[];
}

export type LookupResult =
  | { readonly kind: 'found'; readonly addresses: readonly string[] }
  /** `reason` is a clause: `the name does not exist`. */
  | { readonly kind: 'failed'; readonly code: string; readonly reason: string };

export interface ConnectAttempt {
  readonly address: string;
  /** Milliseconds. */
  readonly took: number;
  /**
   * undefined if the connection succeeded, else the error code of the operating system: ECONNREFUSED, ETIMEDOUT,
   * EHOSTUNREACH.
   */
  readonly error?: string;
}

/** The address that the connection was made to, as the report shows it. */
export function connectedAddress({ connects }: AddressFacts): { readonly address?: string } {
  const connected = connects.find(({ error }) => error === undefined);
  return connected === undefined ? {} : { address: connected.address };
}

export interface TlsFacts {
  /** Whether the server offers TLS; `not_asked`: the connection failed before TLS was requested. */
  readonly offered: 'yes' | 'no' | 'not_asked';
  readonly version?: string;
  readonly certificate?: {
    readonly subject: string;
    readonly issuer: string;
    /** End of the validity of the certificate, in milliseconds since the epoch. */
    readonly validTo: number;
    readonly selfSigned: boolean;
  };
  /**
   * Whether the certificate chain ends at an authority that is trusted without a CA file; undefined if not determined.
   */
  readonly isPubliclyTrusted?: boolean;
  /** Whether the certificate was verified, which proves which server responded. */
  readonly verified?: boolean;
  /** Why the TLS handshake failed, although the server offered TLS. */
  readonly failure?: string;
  /** Whether pg_hba.conf accepts a connection without TLS; undefined if that was not tried. */
  readonly plaintext?: 'accepted' | 'refused';
}

/**
 * Why the address cannot be reached from the internet: `a private address (10.0.0.0/8)`; undefined for a public
 * address.
 */
export function nonPublicReason(address: string): string | undefined {
  const version = isIP(address);
  if (version === 4) return found(ranges4, address, 'ipv4');
  const inner = embedded4(address);
  if (inner !== undefined) return found(ranges4, inner, 'ipv4');
  return version === 6 ? found(ranges6, address, 'ipv6') : undefined;
}

/** Whether the address can be reached only from the machine that has it. */
export function isLoopbackAddress(address: string): boolean {
  return nonPublicReason(address)?.startsWith('a loopback address') ?? false;
}

/** Why the name does not exist in public DNS; undefined if it may be a public name. */
export function nonPublicName(name: string): string | undefined {
  const bare = name.toLowerCase().replace(/\.$/, '');
  if (!bare.includes('.')) return 'a host name without a dot can be resolved only in a local network';
  const suffix = privateSuffixes.find((end) => bare.endsWith(end));
  return suffix === undefined ? undefined : `host names in ${suffix} can be resolved only in a local network`;
}

const privateSuffixes = [
  '.localhost',
  '.local',
  '.localdomain',
  '.internal',
  '.lan',
  '.home.arpa',
  '.intranet',
  '.corp',
  '.home',
  '.ts.net',
  '.svc',
  '.test',
  '.invalid',
  '.example',
];

type Range = readonly [what: string, network: string, prefix: number];

// https://www.iana.org/assignments/iana-ipv4-special-registry
const ranges4: readonly Range[] = [
  ['an address of "this network"', '0.0.0.0', 8],
  ['a private address', '10.0.0.0', 8],
  ['an address behind a carrier NAT', '100.64.0.0', 10],
  ['a loopback address', '127.0.0.0', 8],
  ['a link-local address', '169.254.0.0', 16],
  ['a private address', '172.16.0.0', 12],
  ['a protocol address', '192.0.0.0', 24],
  ['a documentation address', '192.0.2.0', 24],
  ['a private address', '192.168.0.0', 16],
  ['a benchmark address', '198.18.0.0', 15],
  ['a documentation address', '198.51.100.0', 24],
  ['a documentation address', '203.0.113.0', 24],
  ['a multicast address', '224.0.0.0', 4],
  ['a reserved address', '240.0.0.0', 4],
];

/** The first and the last address of a range, as numbers. */
export type Ipv4Range = readonly [from: number, to: number];

/** The ranges of all public IPv4 addresses, in order: the addresses outside the ranges of `ranges4`. */
export const publicRanges: readonly Ipv4Range[] = gaps(
  ranges4.map(([, network, prefix]): Ipv4Range => {
    const from = network.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
    return [from, from + 2 ** (32 - prefix) - 1];
  }),
);

function gaps(taken: readonly Ipv4Range[]): readonly Ipv4Range[] {
  const sorted = taken.toSorted(([a], [b]) => a - b);
  return [...sorted, [2 ** 32, 2 ** 32] as const].flatMap(([from], at): readonly Ipv4Range[] => {
    const begun = (sorted[at - 1]?.[1] ?? -1) + 1;
    return begun < from ? [[begun, from - 1]] : [];
  });
}

// https://www.iana.org/assignments/iana-ipv6-special-registry
const ranges6: readonly Range[] = [
  ['no address', '::', 128],
  ['a loopback address', '::1', 128],
  ['an address for local-use IPv4/IPv6 translation', '64:ff9b:1::', 48],
  ['a discarded address', '100::', 64],
  ['a documentation address', '2001:db8::', 32],
  ['a documentation address', '3fff::', 20],
  ['a private address', 'fc00::', 7],
  ['a link-local address', 'fe80::', 10],
  ['a site-local address', 'fec0::', 10],
  ['a multicast address', 'ff00::', 8],
];

function found(ranges: readonly Range[], address: string, family: 'ipv4' | 'ipv6'): string | undefined {
  const plain = address.replace(/%.*$/, '');
  const range = ranges.find(([, network, prefix]) => {
    const list = new BlockList();
    list.addSubnet(network, prefix, family);
    return list.check(plain, family);
  });
  return range === undefined ? undefined : `${range[0]} (${range[1]}/${range[2]})`;
}

/**
 * The IPv4 address inside an IPv6 address: a mapped (::ffff:0:0/96), a translated (64:ff9b::/96) or a 6to4 (2002::/16)
 * one.
 */
function embedded4(address: string): string | undefined {
  const groups = groupsOf(address);
  if (groups === undefined) return undefined;
  const head = groups.slice(0, 6).join(':');
  if (head === '0:0:0:0:0:65535' || head === '100:65435:0:0:0:0') return dotted(groups[6]!, groups[7]!);
  return groups[0] === 0x2002 ? dotted(groups[1]!, groups[2]!) : undefined;
}

function dotted(high: number, low: number): string {
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

/** The eight 16-bit groups of an IPv6 address. */
function groupsOf(address: string): readonly number[] | undefined {
  if (isIP(address) !== 6) return undefined;
  const plain = address.replace(/%.*$/, '').replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, a, b, c, d) => {
    const [high, low] = [Number(a) * 256 + Number(b), Number(c) * 256 + Number(d)];
    return `${high.toString(16)}:${low.toString(16)}`;
  });
  const [before = '', after] = plain.split('::');
  const left = before === '' ? [] : before.split(':');
  const right = after === undefined || after === '' ? [] : after.split(':');
  const middle = after === undefined ? [] : Array<string>(8 - left.length - right.length).fill('0');
  return [...left, ...middle, ...right].map((group) => Number.parseInt(group, 16));
}

/**
 * Resolves names. `lookup` uses the resolver of this machine, with its hosts file; the other functions query DNS
 * directly.
 */
export interface NameResolver {
  readonly lookup: (host: string) => Promise<readonly string[]>;
  readonly resolve4: (host: string) => Promise<readonly string[]>;
  readonly resolve6: (host: string) => Promise<readonly string[]>;
}

/** @param limit milliseconds for a response of a name server */
function createSystemResolver(limit: number): NameResolver {
  const resolver = new Resolver({ timeout: limit / 2, tries: 2 });
  return {
    lookup: async (host) => (await lookup(host, { all: true })).map(({ address }) => address),
    resolve4: (host) => resolver.resolve4(host),
    resolve6: (host) => resolver.resolve6(host),
  };
}

/** The result of a name lookup within `limit` milliseconds; a failure is a result too. */
async function limitLookupTime(asked: Promise<readonly string[]>, limit: number): Promise<LookupResult> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<LookupResult>((resolve) => {
    timer = setTimeout(() => resolve(failed('ETIMEOUT')), limit);
  });
  const answer = asked.then(
    (addresses): LookupResult =>
      addresses.length === 0 ? failed('ENODATA') : { kind: 'found', addresses: [...new Set(addresses)] },
    (error: unknown) => failed(readErrorCode(error) ?? 'EFAIL'),
  );
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Error codes with which DNS reports that the name has no such record. */
export function isRecordAbsent(answer: LookupResult): boolean {
  return answer.kind === 'failed' && (answer.code === 'ENOTFOUND' || answer.code === 'ENODATA');
}

function failed(code: string): LookupResult {
  return { kind: 'failed', code, reason: reasons[code] ?? `DNS failed (${code})` };
}

const reasons: Readonly<Record<string, string>> = {
  ENOTFOUND: 'the name does not exist',
  ENODATA: 'the name has no such address',
  EAI_AGAIN: 'the name server does not respond',
  ETIMEOUT: 'the name server does not respond',
  ECONNREFUSED: 'no name server can be reached',
  ESERVFAIL: 'the name server failed',
  EBADNAME: 'it is not a valid name',
};

interface SearchOptions {
  readonly contradictions: readonly string[];
  /** Time limits in milliseconds for resolving a name, and for each connection. */
  readonly limit: number;
  readonly signal: AbortSignal;
  readonly names?: NameResolver | undefined;
}

interface AddressSearch {
  /**
   * The first address that accepted a connection, IPv4 preferred; undefined if no address accepted one, or if there is
   * no address.
   */
  readonly firstReachable: Promise<string | undefined>;
  /**
   * All address facts, complete after every name server and every address has responded or timed out. Never rejects.
   */
  readonly facts: Promise<AddressFacts>;
}

/** Resolves the host name and opens one connection to every address, all at the same time. */
export function findReachable(host: string, port: number, options: SearchOptions): AddressSearch {
  const literal: LookupResult | undefined = isIP(host) === 0 ? undefined : { kind: 'found', addresses: [host] };
  const names = options.names ?? createSystemResolver(options.limit);
  const resolve = (query: (host: string) => Promise<readonly string[]>) =>
    literal === undefined ? limitLookupTime(query(host), options.limit) : Promise.resolve(literal);
  // Name servers are not queried for a local name: a public one does not know it, and an unreachable one would cost its
  // whole timeout.
  const own = literal === undefined ? nonPublicName(host) : undefined;
  const resolveDns = (query: (host: string) => Promise<readonly string[]>) =>
    own === undefined
      ? resolve(query)
      : Promise.resolve<LookupResult>({ kind: 'failed', code: 'NOT_ASKED', reason: own });
  const lookup = resolve(names.lookup);
  const tries = lookup.then((answer) =>
    answer.kind === 'found' ? answer.addresses.map((address) => tryConnect(address, port, options)) : [],
  );
  return { firstReachable: tries.then(firstConnected), facts: collect() };

  async function collect(): Promise<AddressFacts> {
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
function tryConnect(address: string, port: number, options: SearchOptions): Promise<ConnectAttempt> {
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
