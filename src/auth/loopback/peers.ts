import { isIP, type Socket } from 'node:net';
import { isLoopbackPeer } from '../../platform/loopback-host.ts';
import { peerUser } from '../../platform/socket-owner.ts';

/** A network in CIDR notation (RFC 4632, RFC 4291 §2.3), whose peers the listener answers. */
export interface PeerNetwork {
  /** The network as the user typed it. */
  readonly text: string;
  readonly family: 4 | 6;
  readonly address: bigint;
  readonly prefixLength: number;
}

/** `reason` completes the sentence "NETWORK is …". */
type NetworkResult =
  | { readonly ok: true; readonly network: PeerNetwork }
  | { readonly ok: false; readonly reason: string };

/**
 * Parses `172.17.0.0/16` or `fd00::/64`; an address without a prefix length is a network of one address. Bits of the host must
 * be zero, because the author of `172.17.0.1/16` may have meant one address.
 */
export function parseNetwork(text: string): NetworkResult {
  const [, written = '', digits] = /^([0-9a-f.:]+)(?:\/(0|[1-9]\d{0,2}))?$/i.exec(text) ?? [];
  const parsed = parseAddress(written);
  if (parsed === undefined) return { ok: false, reason: 'not an IP address with a prefix length' };
  if (parsed.family === 4 && written.includes(':')) return { ok: false, reason: 'an IPv4 address in IPv6 form' };
  const { family, address } = parsed;
  const prefixLength = digits === undefined ? bitsOf(family) : Number(digits);
  if (prefixLength > bitsOf(family)) return { ok: false, reason: `longer than ${bitsOf(family)} bits` };
  if (prefixLength === 0) return { ok: false, reason: 'the network of all addresses' };
  const hostBits = BigInt(bitsOf(family) - prefixLength);
  if ((address >> hostBits) << hostBits !== address)
    return { ok: false, reason: `not the first address of a network with ${prefixLength} bits` };
  return { ok: true, network: { text, family, address, prefixLength } };
}

/** Whether the address of a connected peer is in one of the networks; an unknown address is in none. */
export function isInNetworks(peer: string | undefined, networks: readonly PeerNetwork[]): boolean {
  // The address of a link-local peer ends with its zone (RFC 4007 §11), such as `%eth0`.
  const parsed = parseAddress((peer ?? '').replace(/%.*$/, ''));
  if (parsed === undefined) return false;
  return networks.some(({ family, address, prefixLength }) => {
    const hostBits = BigInt(bitsOf(family) - prefixLength);
    return family === parsed.family && parsed.address >> hostBits === address >> hostBits;
  });
}

interface IpAddress {
  readonly family: 4 | 6;
  readonly address: bigint;
}

/** An IPv4 address in IPv6 form (::ffff:0:0/96) is the same as the IPv4 address. */
function parseAddress(text: string): IpAddress | undefined {
  const version = isIP(text);
  if (version === 0) return undefined;
  if (version === 4) return { family: 4, address: joinGroups(text.split('.').map(Number), 8n) };
  // The URL parser converts an IPv6 address that ends in dotted IPv4 form to groups of hexadecimal digits.
  const [left = '', right] = new URL(`http://[${text}]`).hostname.slice(1, -1).split('::');
  const [head, tail] = [left, right ?? ''].map((part) => (part === '' ? [] : part.split(':'))) as [string[], string[]];
  const zeros = Array<string>(8 - head.length - tail.length).fill('0');
  const groups = [...head, ...zeros, ...tail].map((group) => Number.parseInt(group, 16));
  const address = joinGroups(groups, 16n);
  return address >> 32n === 0xffffn ? { family: 4, address: address & 0xffffffffn } : { family: 6, address };
}

function joinGroups(groups: readonly number[], bits: bigint): bigint {
  return groups.reduce((all, group) => (all << bits) | BigInt(group), 0n);
}

function bitsOf(family: 4 | 6): number {
  return family === 4 ? 32 : 128;
}

/**
 * Whether the other end of a socket belongs to a user other than root and the user of this process; the owner is read once for
 * each socket. @param readOwner a test replaces it
 */
export function isPeerOfOtherUser(socket: Socket, readOwner = peerUser): boolean | undefined {
  const ownUid = process.getuid?.();
  if (ownUid === undefined) return undefined;
  const owner = socketOwners.has(socket) ? socketOwners.get(socket) : readOwner(socket);
  socketOwners.set(socket, owner);
  // The kernel of this machine does not list sockets of another machine or container.
  if (owner === 'refused' && !isLoopbackPeer(socket.remoteAddress)) return undefined;
  return owner === undefined ? undefined : owner !== ownUid && owner !== 0;
}

const socketOwners = new WeakMap<Socket, ReturnType<typeof peerUser>>();

/**
 * Called with the address of a peer that may not send the authorization response. `address`: its connection was closed, because
 * it is not an allowed peer. `user`: its request was refused while the login waits, because the peer belongs to another user.
 */
export type OnRefusedPeer = (address: string, reason: 'address' | 'user') => void;
