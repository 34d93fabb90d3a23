import { expect, test } from 'vitest';
import { isLoopbackAddress, nonPublicName, nonPublicReason } from '../../../../src/db/preflight/network/addresses.ts';

test.each([
  '0.0.0.0',
  '0.1.2.3',
  '10.0.0.1',
  '10.255.255.255',
  '100.64.0.1',
  '100.127.255.255',
  '127.0.0.1',
  '127.9.9.9',
  '169.254.1.1',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.8',
  '192.0.2.1',
  '192.168.1.1',
  '198.18.0.1',
  '198.19.255.255',
  '198.51.100.7',
  '203.0.113.9',
  '224.0.0.1',
  '239.1.1.1',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  'fc00::1',
  'fdff::1',
  'fe80::1',
  'fe80::1%eth0',
  'febf::1',
  'fec0::1',
  'ff02::1',
  '2001:db8::1',
  '3fff::1',
  '100::1',
  '64:ff9b:1::1',
  '::ffff:10.0.0.1',
  '::ffff:7f00:1',
  '::ffff:192.168.0.1',
  '64:ff9b::10.0.0.1',
  '2002:0a00:0001::1',
  '0:0:0:0:0:ffff:7f00:1',
])('%s cannot be reached from the internet', (address) => {
  expect(nonPublicReason(address)).toBeTypeOf('string');
});

test.each([
  '1.1.1.1',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '128.0.0.1',
  '169.253.0.1',
  '172.15.255.255',
  '172.32.0.0',
  '192.0.1.1',
  '192.167.255.255',
  '192.169.0.0',
  '198.17.255.255',
  '198.20.0.0',
  '203.0.112.1',
  '223.255.255.255',
  '2606:4700:4700::1111',
  '2001:4860:4860::8888',
  '::ffff:8.8.8.8',
  '64:ff9b::8.8.8.8',
  '2002:0808:0808::1',
])('%s is public', (address) => {
  expect(nonPublicReason(address)).toBeUndefined();
});

test('the reason names the kind and the network', () => {
  expect(nonPublicReason('10.1.2.3')).toContain('(10.0.0.0/8)');
  expect(nonPublicReason('fe80::1%eth0')).toContain('(fe80::/10)');
});

test.each(['127.0.0.1', '127.8.8.8', '::1', '::ffff:127.0.0.1'])('%s is the machine itself', (address) => {
  expect(isLoopbackAddress(address)).toBe(true);
});

test('neighbours are not the machine itself', () => {
  expect(isLoopbackAddress('10.0.0.1')).toBe(false);
  expect(isLoopbackAddress('8.8.8.8')).toBe(false);
});

test.each([
  'localhost',
  'postgres',
  'db.local',
  'DB.LOCAL.',
  'x.internal',
  'pc.lan',
  'box.tail1.ts.net',
  'pg.default.svc',
  'a.home.arpa',
  'nas.home',
])('%s means nothing outside', (name) => {
  expect(nonPublicName(name)).toBeTypeOf('string');
});

test.each(['db.example.com', 'local.example.com', 'internal.example.org', 'db.lan.example.com.', 'xlocal.com'])(
  '%s may be public',
  (name) => {
    expect(nonPublicName(name)).toBeUndefined();
  },
);
