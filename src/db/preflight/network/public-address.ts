import { BlockList, isIP } from 'node:net';

/**
 * Why the address cannot be reached from the internet: `a private address (10.0.0.0/8)`; undefined for a public
 * address.
 */
export function nonPublicAddressReason(address: string): string | undefined {
  const version = isIP(address);
  if (version === 4) return found(ranges4, address, 'ipv4');
  const inner = embedded4(address);
  if (inner !== undefined) return found(ranges4, inner, 'ipv4');
  return version === 6 ? found(ranges6, address, 'ipv6') : undefined;
}

/** Whether the address can be reached only from the machine that has it. */
export function isLoopbackAddress(address: string): boolean {
  return nonPublicAddressReason(address)?.startsWith('a loopback address') ?? false;
}

/** Why the name does not exist in public DNS; undefined if it may be a public name. */
export function nonPublicNameReason(name: string): string | undefined {
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
export const publicIpv4Ranges: readonly Ipv4Range[] = gaps(
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
