import { describe, expect, test } from 'vitest';
import { Secret } from '../../src/base/secret.ts';
import { guardAuthentication, maySendCleartext } from '../../src/postgresql/connection.ts';
import type { PostgresqlEndpoint } from '../../src/postgresql/endpoint.ts';

const offered = (...names: readonly string[]) => Buffer.from(`${names.join('\0')}\0\0`);
const [ok, cleartext, md5, sasl, saslContinue, saslFinal] = [0, 3, 5, 10, 11, 12];

function methodAfter(
  codes: readonly number[],
  maySendCleartext = false,
  bindsChannel = true,
  names = ['SCRAM-SHA-256'],
) {
  const guard = guardAuthentication(() => maySendCleartext, bindsChannel, false);
  for (const code of codes) guard.check(code, code === sasl ? offered(...names) : Buffer.alloc(0));
  return guard.method();
}

describe('a server that follows the protocol', () => {
  test('has one of five methods', () => {
    expect(methodAfter([ok])).toBe('none');
    expect(methodAfter([md5, ok])).toBe('md5');
    expect(methodAfter([cleartext, ok], true)).toBe('password');
    expect(methodAfter([sasl, saslContinue, saslFinal, ok])).toBe('scram-sha-256');
  });
  test('binds the channel only where both sides can', () => {
    const both = ['SCRAM-SHA-256-PLUS', 'SCRAM-SHA-256'];
    expect(methodAfter([sasl, saslContinue, saslFinal, ok], false, true, both)).toBe('scram-sha-256-plus');
    expect(methodAfter([sasl, saslContinue, saslFinal, ok], false, false, both)).toBe('scram-sha-256');
  });
});

test('a request for the password in clear text is refused', () => {
  expect(() => methodAfter([cleartext])).toThrow(
    expect.objectContaining({ code: 'CLEARTEXT_PASSWORD', phase: 'startup' }),
  );
});

test.each([
  ['at once', [sasl, ok]],
  ['after its challenge', [sasl, saslContinue, ok]],
  ['with the request for an MD5 hash', [sasl, md5]],
])('SCRAM that the server ends %s is no proof', (_when, codes) => {
  expect(() => methodAfter(codes)).toThrow(expect.objectContaining({ code: 'SERVER_PROOF' }));
});

test.each([
  ['i=1', false, true],
  ['i=4095', false, true],
  ['i=4096,i=1', false, true],
  ['i=4096', false, false],
  ['i=1', true, false],
])(
  'a proof with the iterations %s to a server that is trusted (%s): refused %s',
  (attributes, isTrusted, isRefused) => {
    const guard = guardAuthentication(() => true, true, isTrusted);
    guard.check(sasl, offered('SCRAM-SHA-256'));
    const challenge = () => guard.check(saslContinue, Buffer.from(`r=abc,s=c2FsdA==,${attributes}`));
    if (isRefused) expect(challenge).toThrow(expect.objectContaining({ code: 'WEAK_SCRAM', phase: 'startup' }));
    else expect(challenge).not.toThrow();
  },
);

test.each([
  ['the request for a hash', [md5, md5]],
  ['SCRAM', [sasl, saslContinue, saslContinue]],
  ['the login', [ok, ok]],
  ['the request for a hash as one for the password', [md5, cleartext]],
  ['SCRAM without its beginning', [saslContinue]],
])('a server that repeats %s is refused', (_what, codes) => {
  expect(() => methodAfter(codes, true)).toThrow(expect.objectContaining({ phase: 'startup' }));
});

test('a request without a code is refused, and an unknown one left to pg', () => {
  expect(() => methodAfter([-1])).toThrow();
  expect(() => methodAfter([7])).not.toThrow();
});

describe('the password in clear text', () => {
  const source = (more: Partial<PostgresqlEndpoint> = {}): PostgresqlEndpoint => ({
    host: 'db.example.com',
    port: 5432,
    dbname: 'd',
    username: 'u',
    password: new Secret('s3cret'),
    ssl: 'require',
    ...more,
  });
  const ca = { file: 'ca.pem', pem: '' };
  const elsewhere = '198.51.100.7';

  test.each([
    ['a server on this machine', source({ ssl: 'disable' }), '127.0.0.1'],
    ['a server on this machine (IPv6)', source(), '::1'],
    ['a server on this machine (mapped)', source(), '::ffff:127.0.0.1'],
    ['a verified name', source({ verify: { what: 'full' } }), elsewhere],
    ['a certificate of the given CA', source({ verify: { what: 'chain', ca } }), elsewhere],
    ['whoever answers, when that is allowed', source({ allowCleartextPassword: true }), elsewhere],
    ['whoever answers, when there is none', source({ password: undefined }), elsewhere],
  ])('may be sent to %s', (_to, from, peer) => expect(maySendCleartext(from, peer)).toBe(true));

  test.each([
    ['a self-signed certificate', source(), elsewhere],
    ['a certificate of any public CA', source({ verify: { what: 'chain' } }), elsewhere],
    ['a connection without TLS', source({ ssl: 'disable', verify: { what: 'full' } }), elsewhere],
    ['a name that only looks local', source(), '127.0.0.1.example.com'],
    ['a socket without an address', source(), undefined],
  ])('is not sent to %s', (_to, from, peer) => expect(maySendCleartext(from, peer)).toBe(false));
});
