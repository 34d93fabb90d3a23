import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CliError } from '../../src/base/errors.ts';
import { Secret } from '../../src/base/secret.ts';
import { addPassword, formatAddress, parseRedisEndpoint, type RedisEndpointInput } from '../../src/redis/endpoint.ts';
import { expectGolden } from '../fixtures/golden.ts';

const ca = { file: 'ca.pem', pem: 'PEM' };

test.each<readonly [string, object]>([
  [
    'redis://db.example.com',
    { host: 'db.example.com', port: 6379, ssl: 'disable', username: undefined, db: undefined },
  ],
  ['rediss://db.example.com:6380/', { host: 'db.example.com', port: 6380, ssl: 'require' }],
  ['redis://mover:pw@db.example.com/3', { username: 'mover', db: 3 }],
  ['redis://:pw@db.example.com/0', { username: undefined, db: 0 }],
  ['redis://default@db.example.com', { username: 'default', password: undefined }],
  ['redis://[2001:db8::1]:6390/1', { host: '2001:db8::1', port: 6390, db: 1 }],
  ['REDISS://DB.example.com', { host: 'DB.example.com', ssl: 'require' }],
  ['valkeys://db.example.com', { ssl: 'require' }],
  ['redis://db.example.com/4/', { db: 4 }],
])('%s is read', (url, expected) => {
  expect(parseRedisEndpoint({ url }).source).toMatchObject(expected);
});

test.each<readonly [string, RedisEndpointInput]>([
  ['nothing', {}],
  ['a URL of another kind', { url: 'http://db' }],
  ['no URL', { url: 'db.example.com' }],
  ['a URL without a host', { url: 'redis://:pw@' }],
  ['an invalid port', { url: 'redis://db:70000' }],
  ['an invalid port, as an option', { host: 'db', port: 0 }],
  ['a database that is not a number', { url: 'redis://db/shop' }],
  ['parameters', { url: 'redis://db?ssl=true' }],
  ['a fragment', { url: 'redis://db#x' }],
  ['two ports', { url: 'redis://db:6379', port: 6380 }],
  ['two users', { url: 'redis://a:b@db', username: 'c' }],
  ['two hosts', { url: 'redis://db', host: 'other' }],
  ['two URLs', { url: 'redis://db', host: 'redis://db' }],
  ['TLS required and forbidden', { url: 'rediss://db', disableSsl: true }],
  ['a CA without TLS', { url: 'redis://db', ca }],
  ['a CA without TLS, as an option', { host: 'db', disableSsl: true, ca }],
  ['a Unix socket', { host: '/run/redis.sock' }],
  ['a Unix socket, as a URL', { url: 'unix:///run/redis.sock' }],
  ['an IPv6 address without brackets', { url: 'redis://::1:6379' }],
  ['several hosts', { url: 'redis://:pw@a:6379,b:6379' }],
  ['an address of Sentinel', { url: 'redis-sentinel://a:26379' }],
  ['a host with a space', { url: 'redis://d b' }],
])('%s is a usage error', (_name, parts) => {
  const error = errorOf(() => parseRedisEndpoint(parts));
  expect(error).toMatchObject({ code: 'usage' });
  expectGolden('db-preflight-redis', `${error.message}\nhint: ${error.hint}`);
});

function errorOf(work: () => unknown): CliError {
  try {
    work();
  } catch (error) {
    if (error instanceof CliError) return error;
    throw error;
  }
  throw new Error('no error was thrown');
}

test('equal values may be given twice, and options complete a URL', () => {
  expect(
    parseRedisEndpoint({
      url: 'redis://db:6380',
      port: 6380,
      username: 'u',
      password: new Secret('p'),
      disableSsl: true,
    }).source,
  ).toMatchObject({
    port: 6380,
    username: 'u',
  });
  expect(parseRedisEndpoint({ host: 'redis://db:6380' }).source).toMatchObject({
    host: 'db',
    port: 6380,
    ssl: 'disable',
  });
});

test('options use TLS unless it is turned off', () => {
  expect(parseRedisEndpoint({ host: '[::1]' }).source).toMatchObject({ host: '::1', ssl: 'require' });
  expect(parseRedisEndpoint({ host: 'db', disableSsl: true }).source.ssl).toBe('disable');
  expect(parseRedisEndpoint({ host: 'db', ca }).source.ca).toEqual(ca);
});

test('the precedence of passwords is: given, URL, environment', () => {
  const environment = { REDISCLI_AUTH: 'c' };
  const all = { url: 'redis://:b@db', password: new Secret('a'), environment };
  const read = (parts: RedisEndpointInput) => {
    const { source, passwordFrom } = parseRedisEndpoint(parts);
    return [source.password?.reveal(), passwordFrom];
  };
  expect(read(all)).toEqual(['a', 'given']);
  expect(read({ url: all.url, environment })).toEqual(['b', 'url']);
  expect(read({ host: 'db', environment })).toEqual(['c', 'environment']);
  expect(read({ host: 'db', environment: { REDISCLI_AUTH: '' } })).toEqual([undefined, 'none']);
});

test.each(['p@ss', 'p/a:s?s#w', 'söße', '"quote\'', 'back\\slash', 'sp ace', '[x]', '+&=', '://', 'a@b@c'])(
  'the password %s is accepted encoded and literally',
  (password) => {
    const read = (text: string) => parseRedisEndpoint({ url: `redis://u:${text}@db:6380/2` }).source;
    expect(read(encodeURIComponent(password)).password?.reveal()).toBe(password);
    expect(read(password)).toMatchObject({ host: 'db', port: 6380, db: 2, username: 'u' });
    expect(read(password).password?.reveal()).toBe(password);
  },
);

test('every password survives being encoded', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1, unit: 'grapheme' }), (password) => {
      const { source } = parseRedisEndpoint({ url: `rediss://u:${encodeURIComponent(password)}@db` });
      expect(source.password?.reveal()).toBe(password);
    }),
  );
});

test('a % that encodes nothing is refused without showing the password', () => {
  expect(() => parseRedisEndpoint({ url: 'redis://u:50%off@db' })).toThrow(/%/);
  try {
    parseRedisEndpoint({ url: 'redis://u:50%off@db' });
  } catch (error) {
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain('off');
  }
});

test('a user name without a password is not kept, because it may be the password, until one is given', () => {
  for (const parts of [{ url: 'redis://hunter22@db' }, { host: 'db', username: 'hunter22' }]) {
    const read = parseRedisEndpoint(parts);
    expect(JSON.stringify(read.source)).not.toContain('hunter22');
    expect(read.source).toMatchObject({ username: undefined, password: undefined, isUsernameUnused: true });
    expect(addPassword(read, undefined)).toBe(read.source);
    const whole = addPassword(read, new Secret('pw'));
    expect(whole).toMatchObject({ username: 'hunter22' });
    expect(whole.isUsernameUnused).toBeUndefined();
  }
  const named = parseRedisEndpoint({ url: 'redis://mover@db', environment: { REDISCLI_AUTH: 'pw' } });
  expect(named.source).toMatchObject({ username: 'mover', isUsernameAmbiguous: true });
});

test('a name before the @ is not shown when it contradicts --username', () => {
  const twice = () => parseRedisEndpoint({ url: 'redis://hunter22@db', username: 'mover' });
  expect(twice).toThrow(
    expect.objectContaining({ code: 'usage', message: expect.stringMatching(/^(?!.*hunter22).*mover/) }),
  );
});

test('a source does not print its password', () => {
  expect(JSON.stringify(parseRedisEndpoint({ url: 'redis://u:hush@db' }))).not.toContain('hush');
});

test('a place has brackets around IPv6 alone', () => {
  expect(formatAddress({ host: '::1', port: 1 })).toBe('[::1]:1');
  expect(formatAddress({ host: 'db', port: 2 })).toBe('db:2');
});
