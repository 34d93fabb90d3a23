import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { describe, expect, test } from 'vitest';
import {
  checkPorts,
  type ListenAddresses,
  type PortProbe,
  portKey,
  probePorts,
} from '../../../src/auth/doctor/ports.ts';
import { expectGolden } from '../../fixtures/golden.ts';

const literal: ListenAddresses = {
  href: 'http://127.0.0.1:8765/callback',
  port: 8765,
  addresses: ['127.0.0.1'],
};
const named: ListenAddresses = {
  href: 'http://localhost:8765/callback',
  port: 8765,
  addresses: ['127.0.0.1', '::1'],
};
const other: ListenAddresses = { href: 'http://127.0.0.1:9876/callback', port: 9876, addresses: ['127.0.0.1'] };

function bound(four: PortProbe, six: PortProbe, port = 8765): ReadonlyMap<string, PortProbe> {
  return new Map([
    [portKey('127.0.0.1', port), four],
    [portKey('::1', port), six],
  ]);
}

describe('a registered port', () => {
  test.each([
    ['free on both families', literal, 'free', 'free', 'ok'],
    ['taken on the family the URL names', literal, 'EADDRINUSE', 'free', 'failed'],
    ['reserved', literal, 'EACCES', 'free', 'failed'],
    ['taken on the other family alone', literal, 'free', 'EADDRINUSE', 'ok'],
    ['localhost, taken on the second family', named, 'free', 'EADDRINUSE', 'failed'],
    ['localhost, without a second family', named, 'free', 'EADDRNOTAVAIL', 'ok'],
    ['localhost, without IPv6 at all', named, 'free', 'EAFNOSUPPORT', 'ok'],
    ['localhost, without the first family', named, 'EADDRNOTAVAIL', 'free', 'failed'],
  ] as const)('%s', (_, callback, four, six, status) => {
    const [finding] = checkPorts([callback], bound(four, six));
    expect(finding).toMatchObject({ id: 'port-8765', status });
    expect(finding?.hint === undefined).toBe(status === 'ok');
  });

  test('both address families are reported', () => {
    const observed = checkPorts([literal], bound('free', 'EADDRINUSE'))[0]?.observed ?? '';
    expect(observed).toMatch(/^http:\/\/127\.0\.0\.1:8765\/callback: 127\.0\.0\.1 .*, ::1 /);
    expectGolden('doctor', observed);
  });

  test('a port in use is a warning while another one is free', () => {
    const findings = checkPorts(
      [literal, other],
      new Map([...bound('EADDRINUSE', 'free'), ...bound('free', 'free', 9876)]),
    );
    expect(findings.map(({ status }) => status)).toEqual(['warning', 'ok']);
  });

  test('all ports in use are failures', () => {
    const findings = checkPorts(
      [literal, other],
      new Map([...bound('EADDRINUSE', 'free'), ...bound('EADDRINUSE', 'free', 9876)]),
    );
    expect(findings.map(({ status }) => status)).toEqual(['failed', 'failed']);
  });

  test('port 0 is any free port', () => {
    const any: ListenAddresses = { href: 'http://127.0.0.1:0/callback', port: 0, addresses: ['127.0.0.1'] };
    const [finding] = checkPorts([any], new Map());
    expect(finding).toMatchObject({ id: 'port-0', status: 'ok' });
    expectGolden('doctor', finding?.observed ?? '');
  });
});

test('a port with a listener is in use on its family, and free again once the listener ends', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const callback = { href: `http://127.0.0.1:${port}/callback`, port, addresses: ['127.0.0.1'] };
  const during = await probePorts([callback]);
  expect(during.get(portKey('127.0.0.1', port))).toBe('EADDRINUSE');
  expect(during.get(portKey('::1', port))).not.toBe('EADDRINUSE');
  server.close();
  await once(server, 'close');
  expect((await probePorts([callback])).get(portKey('127.0.0.1', port))).toBe('free');
  // Looked at twice: the first look kept nothing.
  expect((await probePorts([callback])).get(portKey('127.0.0.1', port))).toBe('free');
});
