import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CliError } from '../../src/errors.ts';
import {
  parseRedisSource,
  type RedisSourceInput,
  redisHostAndPort,
  withRedisPassword,
} from '../../src/redis/source.ts';
import { Secret } from '../../src/secret.ts';

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
  expect(parseRedisSource({ url }).source).toMatchObject(expected);
});

test.each<readonly [string, RedisSourceInput, RegExp]>([
  ['nothing', {}, /no host/],
  ['a URL of another kind', { url: 'http://db' }, /http:\/\/ is no scheme/],
  ['no URL', { url: 'db.example.com' }, /no URL/],
  ['a URL without a host', { url: 'redis://:pw@' }, /no host/],
  ['a port that is none', { url: 'redis://db:70000' }, /no number from 1 to 65535/],
  ['a port that is none, as a part', { host: 'db', port: 0 }, /port 0 is no port/],
  ['a database that is no number', { url: 'redis://db/shop' }, /database by its number/],
  ['parameters', { url: 'redis://db?ssl=true' }, /parameters/],
  ['a fragment', { url: 'redis://db#x' }, /#/],
  ['two ports', { url: 'redis://db:6379', port: 6380 }, /given twice: 6379 in the URL and 6380/],
  ['two users', { url: 'redis://a:b@db', username: 'c' }, /user name is given twice/],
  ['two hosts', { url: 'redis://db', host: 'other' }, /host is given twice/],
  ['two URLs', { url: 'redis://db', host: 'redis://db' }, /both hold a URL/],
  ['TLS asked for and forbidden', { url: 'rediss://db', disableSsl: true }, /--disable-ssl forbids/],
  ['a CA without TLS', { url: 'redis://db', ca }, /redis:\/\/ turns off/],
  ['a CA without TLS, as a part', { host: 'db', disableSsl: true, ca }, /--disable-ssl turns off/],
  ['a unix socket', { host: '/run/redis.sock' }, /unix socket/],
  ['a unix socket, as a URL', { url: 'unix:///run/redis.sock' }, /unix socket/],
  ['an IPv6 address without brackets', { url: 'redis://::1:6379' }, /more than one host/],
  ['several hosts', { url: 'redis://:pw@a:6379,b:6379' }, /more than one host/],
  ['an address of Sentinel', { url: 'redis-sentinel://a:26379' }, /redis-sentinel:\/\/ is no scheme of Redis/],
  ['a host with a space', { url: 'redis://d b' }, /space/],
])('%s is refused', (_name, parts, message) => {
  expect(() => parseRedisSource(parts)).toThrow(message);
  expect(() => parseRedisSource(parts)).toThrow(CliError);
});

test('what is said twice alike is fine, and parts complete a URL', () => {
  expect(
    parseRedisSource({ url: 'redis://db:6380', port: 6380, username: 'u', password: new Secret('p'), disableSsl: true })
      .source,
  ).toMatchObject({
    port: 6380,
    username: 'u',
  });
  expect(parseRedisSource({ host: 'redis://db:6380' }).source).toMatchObject({
    host: 'db',
    port: 6380,
    ssl: 'disable',
  });
});

test('parts mean TLS unless it is turned off', () => {
  expect(parseRedisSource({ host: '[::1]' }).source).toMatchObject({ host: '::1', ssl: 'require' });
  expect(parseRedisSource({ host: 'db', disableSsl: true }).source.ssl).toBe('disable');
  expect(parseRedisSource({ host: 'db', ca }).source.ca).toEqual(ca);
});

test('one password wins: given, then in the URL, then in the environment', () => {
  const environment = { REDISCLI_AUTH: 'c' };
  const all = { url: 'redis://:b@db', password: new Secret('a'), environment };
  const read = (parts: RedisSourceInput) => {
    const { source, passwordFrom } = parseRedisSource(parts);
    return [source.password?.reveal(), passwordFrom];
  };
  expect(read(all)).toEqual(['a', 'given']);
  expect(read({ url: all.url, environment })).toEqual(['b', 'url']);
  expect(read({ host: 'db', environment })).toEqual(['c', 'environment']);
  expect(read({ host: 'db', environment: { REDISCLI_AUTH: '' } })).toEqual([undefined, 'none']);
});

test.each(['p@ss', 'p/a:s?s#w', 'söße', '"quote\'', 'back\\slash', 'sp ace', '[x]', '+&=', '://', 'a@b@c'])(
  'the password %s is taken encoded and as it stands',
  (password) => {
    const read = (text: string) => parseRedisSource({ url: `redis://u:${text}@db:6380/2` }).source;
    expect(read(encodeURIComponent(password)).password?.reveal()).toBe(password);
    expect(read(password)).toMatchObject({ host: 'db', port: 6380, db: 2, username: 'u' });
    expect(read(password).password?.reveal()).toBe(password);
  },
);

test('every password survives being encoded', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1, unit: 'grapheme' }), (password) => {
      const { source } = parseRedisSource({ url: `rediss://u:${encodeURIComponent(password)}@db` });
      expect(source.password?.reveal()).toBe(password);
    }),
  );
});

test('a % that encodes nothing is refused without showing the password', () => {
  expect(() => parseRedisSource({ url: 'redis://u:50%off@db' })).toThrow(/%/);
  try {
    parseRedisSource({ url: 'redis://u:50%off@db' });
  } catch (error) {
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain('off');
  }
});

test('a name without a password is not kept, for it may be the password, and is there when one comes', () => {
  for (const parts of [{ url: 'redis://hunter22@db' }, { host: 'db', username: 'hunter22' }]) {
    const read = parseRedisSource(parts);
    expect(JSON.stringify(read.source)).not.toContain('hunter22');
    expect(read.source).toMatchObject({ username: undefined, password: undefined, isUsernameUnused: true });
    expect(withRedisPassword(read, undefined)).toBe(read.source);
    const whole = withRedisPassword(read, new Secret('pw'));
    expect(whole).toMatchObject({ username: 'hunter22' });
    expect(whole.isUsernameUnused).toBeUndefined();
  }
  const named = parseRedisSource({ url: 'redis://mover@db', environment: { REDISCLI_AUTH: 'pw' } });
  expect(named.source).toMatchObject({ username: 'mover', isUsernameAmbiguous: true });
});

test('a name before the @ is not shown when it contradicts --username', () => {
  const twice = () => parseRedisSource({ url: 'redis://hunter22@db', username: 'mover' });
  expect(twice).toThrow(
    expect.objectContaining({ code: 'usage', message: expect.stringMatching(/^(?!.*hunter22).*mover/) }),
  );
});

test('a source does not print its password', () => {
  expect(JSON.stringify(parseRedisSource({ url: 'redis://u:hush@db' }))).not.toContain('hush');
});

test('a place has brackets around IPv6 alone', () => {
  expect(redisHostAndPort({ host: '::1', port: 1 })).toBe('[::1]:1');
  expect(redisHostAndPort({ host: 'db', port: 2 })).toBe('db:2');
});
