import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { isInNetworks, isPeerOfOtherUser, type PeerNetwork, parseNetwork } from '../../../src/auth/loopback/peers.ts';

function networks(...texts: readonly string[]): readonly PeerNetwork[] {
  return texts.map((text) => {
    const parsed = parseNetwork(text);
    if (!parsed.ok) throw new Error(parsed.reason);
    return parsed.network;
  });
}

describe('a network in CIDR notation', () => {
  it.each([
    ['172.17.0.1', 4, 32],
    ['172.17.0.1/32', 4, 32],
    ['172.16.0.0/12', 4, 12],
    ['128.0.0.0/1', 4, 1],
    ['fd00::1', 6, 128],
    ['FD00::/8', 6, 8],
    ['fe80::/10', 6, 10],
    ['64:ff9b::192.0.2.0/128', 6, 128],
  ])('%s', (text, family, prefixLength) => {
    expect(parseNetwork(text)).toMatchObject({
      ok: true,
      network: { text, family, prefixLength },
    });
  });

  it.each([
    '',
    '/',
    '172.17.0.0/',
    '/16',
    '172.17.0/16',
    '172.17.0.0/33',
    '172.17.0.0/016',
    '172.17.0.0/-1',
    '172.17.0.0/16/16',
    '172.17.0.0/255.255.0.0',
    '172.17.0.0 /16',
    ' 172.17.0.0/16',
    '172.17.0.0/16\n',
    '172.17.0.1/16',
    '172.017.0.0/16',
    '0xac.17.0.0/16',
    '2886795265/32',
    '172.17.0.256/32',
    '0.0.0.0/0',
    '::/0',
    '0.0.0.0/00',
    'fd00::/129',
    'fd00::1/64',
    'fe80::1%eth0/128',
    '[fd00::]/64',
    '::ffff:172.17.0.0/112',
    '::ffff:ac11:1/128',
    'localhost/32',
    '*',
    'all',
  ])('%j is refused', (text) => {
    expect(parseNetwork(text).ok).toBe(false);
  });
});

describe('a peer', () => {
  const allowed = networks('172.17.0.1/32', '10.8.0.0/15', 'fd00:0:0:1::/64');

  it.each([
    '172.17.0.1',
    '::ffff:172.17.0.1',
    '::FFFF:ac11:1',
    '10.8.0.0',
    '10.9.255.255',
    'fd00:0:0:1::',
    'fd00::1:ffff:ffff:ffff:ffff',
    'fd00:0:0:1::7%eth0',
  ])('%s is in a network', (peer) => {
    expect(isInNetworks(peer, allowed)).toBe(true);
  });

  it.each([
    undefined,
    '',
    '172.17.0.2',
    '172.17.0.10',
    '::172.17.0.1',
    '::ffff:0:172.17.0.1',
    '::ffff:172.17.0.2',
    '64:ff9b::172.17.0.1',
    '10.7.255.255',
    '10.10.0.0',
    'fd00:0:0:2::',
    '127.0.0.1',
    '::1',
    '172.17.0.1.example',
  ])('%s is in none', (peer) => {
    expect(isInNetworks(peer, allowed)).toBe(false);
  });

  it('without networks is in none', () => {
    expect(isInNetworks('127.0.0.1', [])).toBe(false);
  });

  it('of IPv4 is not in a network of IPv6 with the same bits', () => {
    expect(isInNetworks('0.0.0.1', networks('::1/128'))).toBe(false);
    expect(isInNetworks('::1', networks('0.0.0.1/32'))).toBe(false);
  });
});

const ownUid = process.getuid?.() ?? 0;

it.runIf(process.getuid !== undefined).each([
  ['this user', '127.0.0.1', ownUid, false],
  ['root', '127.0.0.1', 0, false],
  ['another user', '127.0.0.1', ownUid + 1, true],
  ['another user at the address of a network', '10.0.0.2', ownUid + 1, true],
  ['nobody knows', '127.0.0.1', undefined, undefined],
  ['a socket of this machine that is not listed', '127.0.0.1', 'refused', true],
  ['a mapped address of this machine that is not listed', '::ffff:127.0.0.1', 'refused', true],
  ['another machine, whose sockets are not listed', '10.0.0.2', 'refused', undefined],
] as const)('the other end belongs to %s', (_, remoteAddress, owner, expected) => {
  expect(isPeerOfOtherUser({ remoteAddress } as Socket, () => owner)).toBe(expected);
});

it.runIf(process.getuid !== undefined)('the owner is read once for each socket', () => {
  const socket = { remoteAddress: '127.0.0.1' } as Socket;
  expect(isPeerOfOtherUser(socket, () => ownUid + 1)).toBe(true);
  expect(isPeerOfOtherUser(socket, () => ownUid)).toBe(true);
});
