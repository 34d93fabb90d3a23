import { describe, expect, it } from 'vitest';
import {
  buildSandboxServerOriginAndHosts,
  formatHttpOrigin,
  parseSandboxPublicAddress,
} from '../../../src/sandbox/http/origin.ts';

it.each([
  ['127.0.0.1', 8080, 'http://127.0.0.1:8080'],
  ['::1', 8080, 'http://[::1]:8080'],
  ['127.0.0.1', 80, 'http://127.0.0.1'],
  ['::1', 80, 'http://[::1]'],
  ['localhost', 80, 'http://localhost'],
])('the origin of %s at port %d is serialized as %s', (host, port, origin) => {
  expect(formatHttpOrigin(host, port)).toBe(origin);
});

it.each([
  ['sandbox:8080', { host: 'sandbox', port: 8080 }],
  ['Sandbox.Example:80', { host: 'sandbox.example', port: 80 }],
  ['my_sandbox:8080', { host: 'my_sandbox', port: 8080 }],
  ['10.0.0.2:65535', { host: '10.0.0.2', port: 65_535 }],
  ['[fd00::2]:8080', { host: '[fd00::2]', port: 8080 }],
])('the public name %s', (text, name) => {
  expect(parseSandboxPublicAddress(text)).toEqual(name);
});

it.each([
  'sandbox',
  'sandbox:',
  ':8080',
  'sandbox:0',
  'sandbox:08080',
  'sandbox:65536',
  'sandbox:8080/',
  'http://sandbox:8080',
  'user@sandbox:8080',
  'sand box:8080',
  'sandbox:8080\n',
  '127.1:8080',
  '0x7f.0.0.1:8080',
  '10.0.0.256:8080',
  '0.0.0.0:8080',
  '[::]:8080',
  '[fd00:0::2]:8080',
  'fd00::2:8080',
  'sändbox:8080',
])('%j is not a public name', (text) => {
  expect(parseSandboxPublicAddress(text)).toBeUndefined();
});

describe('the names of an origin', () => {
  it.each([
    ['127.0.0.1', undefined, 'http://127.0.0.1:8080', ['127.0.0.1:8080', '[::1]:8080', 'localhost:8080']],
    ['0.0.0.0', 'sandbox', 'http://sandbox:8080', ['127.0.0.1:8080', '[::1]:8080', 'localhost:8080', 'sandbox:8080']],
    ['10.0.0.2', 'sandbox', 'http://sandbox:8080', ['10.0.0.2:8080', 'sandbox:8080']],
  ])('that listens on %s with the public host %s', (host, publicHost, origin, authorities) => {
    const names = buildSandboxServerOriginAndHosts(host, 8080, publicHost);
    expect(names.origin).toBe(origin);
    expect([...names.authorities].sort()).toEqual(authorities);
  });

  it.each([
    ['0.0.0.0', 'http://127.0.0.1:8080'],
    ['::', 'http://[::1]:8080'],
    ['10.0.0.2', 'http://10.0.0.2:8080'],
  ])('%s is reached from this machine at %s', (host, origin) => {
    expect(buildSandboxServerOriginAndHosts(host, 8080, 'sandbox').localOrigin).toBe(origin);
  });

  it('include the name with and without the default port', () => {
    expect([...buildSandboxServerOriginAndHosts('10.0.0.2', 80, 'sandbox').authorities]).toEqual([
      '10.0.0.2',
      '10.0.0.2:80',
      'sandbox',
      'sandbox:80',
    ]);
  });
});
