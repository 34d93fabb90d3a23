import { describe, expect, it } from 'vitest';
import {
  type AllowedCallbackClientNetwork,
  isPeerInAllowedNetworks,
  parseAllowedCallbackClientNetwork,
} from '../../../src/auth/loopback/allowed-callback-client-network.ts';

function networks(...texts: readonly string[]): readonly AllowedCallbackClientNetwork[] {
  return texts.map((text) => {
    const parsed = parseAllowedCallbackClientNetwork(text);
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
    expect(parseAllowedCallbackClientNetwork(text)).toMatchObject({
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
    expect(parseAllowedCallbackClientNetwork(text).ok).toBe(false);
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
    expect(isPeerInAllowedNetworks(peer, allowed)).toBe(true);
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
    expect(isPeerInAllowedNetworks(peer, allowed)).toBe(false);
  });

  it('without networks is in none', () => {
    expect(isPeerInAllowedNetworks('127.0.0.1', [])).toBe(false);
  });

  it('of IPv4 is not in a network of IPv6 with the same bits', () => {
    expect(isPeerInAllowedNetworks('0.0.0.1', networks('::1/128'))).toBe(false);
    expect(isPeerInAllowedNetworks('::1', networks('0.0.0.1/32'))).toBe(false);
  });
});
