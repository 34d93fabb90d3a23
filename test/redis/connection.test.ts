import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Secret } from '../../src/base/secret.ts';
import { CommandError, parseErrorCode, redactServerMessage } from '../../src/redis/command-error.ts';
import { connectRedis } from '../../src/redis/connection.ts';
import { parseRedisEndpoint, type RedisEndpointInput } from '../../src/redis/endpoint.ts';
import { lacks } from '../fixtures/needs.ts';
import { type RedisServer, startRedis } from '../fixtures/redis.ts';
import { listen } from './listen.ts';

const source = (parts: RedisEndpointInput) =>
  parseRedisEndpoint({ host: '127.0.0.1', disableSsl: true, ...parts }).source;
const bound = { limit: 2000 };

describe.skipIf(lacks('redis-server', 'redis-cli'))('with a real server', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis({ setup: [['config', 'set', 'lua-time-limit', '100']] });
  });
  afterAll(() => server.stop());

  test('commands sent together are answered in order, and an error harms no other', async () => {
    const session = await connectRedis(source({ port: server.port }), bound);
    const replies = await Promise.allSettled([
      session.send(['SET', 'a', '1']),
      session.send(['NO-SUCH-COMMAND', 'word']),
      session.sendRaw(['GET', 'a']),
    ]);
    session.end();
    expect(replies[0]).toMatchObject({ value: 'OK' });
    expect(replies[1]).toMatchObject({
      reason: { code: 'ERR', lost: false, message: "ERR unknown command 'NO-SUCH-COMMAND'" },
    });
    expect(replies[2]).toMatchObject({ value: Buffer.from('1') });
  });

  test('says nothing on the way in but AUTH and PING', async () => {
    const seen = await listen(async (port) => {
      await connectRedis(source({ port, password: new Secret('p w'), username: 'ü' }), bound).then((session) =>
        session.end(),
      );
    });
    expect(seen).toBe('*3\r\n$4\r\nAUTH\r\n$2\r\nü\r\n$3\r\np w\r\n*1\r\n$4\r\nPING\r\n');
  });

  test.each(['p@ss w"ord\'', 'söße💾', '\\x00', 'a\r\nPING', ' '])('the password %j gets in', async (password) => {
    const session = await connectRedis(source({ port: server.port }), bound);
    await session.send(['ACL', 'SETUSER', 'odd', 'on', 'resetpass', `>${password}`, '+ping']);
    session.end();
    const odd = await connectRedis(
      source({ port: server.port, username: 'odd', password: new Secret(password) }),
      bound,
    );
    odd.end();
    expect(odd.authentication.auth).toBe('password');
  });

  test('a command without a reply in time ends the session', async () => {
    const session = await connectRedis(source({ port: server.port }), bound);
    const slow = session.send(['BLPOP', 'nothing', '0'], 200);
    const behind = session.send(['PING']);
    const [late, next] = await Promise.allSettled([slow, behind]);
    expect(late).toMatchObject({ reason: { code: 'ETIMEDOUT', lost: true } });
    expect(next).toMatchObject({ status: 'rejected', reason: expect.any(CommandError) });
    await expect(session.send(['PING'])).rejects.toMatchObject({ lost: true });
  });

  test('a signal ends the pending command', async () => {
    const session = await connectRedis(source({ port: server.port }), {
      limit: 2000,
      signal: AbortSignal.timeout(200),
    });
    await expect(session.send(['BLPOP', 'nothing', '0'])).rejects.toMatchObject({
      code: 'ABORTED',
    });
    const late = connectRedis(source({ port: server.port }), { limit: 2000, signal: AbortSignal.abort() });
    await expect(late).rejects.toMatchObject({ code: 'ABORTED' });
  });

  test('after the server is killed the session is lost, and no reconnect happens', async () => {
    const doomed = await startRedis();
    const session = await connectRedis(source({ port: doomed.port }), bound);
    const [waiting] = await Promise.allSettled([session.send(['BLPOP', 'nothing', '0']), doomed.stop()]);
    expect(waiting).toMatchObject({ reason: { code: 'ECONNRESET', lost: true } });
    await expect(session.send(['PING'])).rejects.toMatchObject({ lost: true });
    session.end();
  });
});

test.each<readonly [string, string, object]>([
  ['a web server', 'HTTP/1.1 400 Bad Request\r\n\r\n', { phase: 'startup', code: 'PROTOCOL' }],
  ['an SSH server', 'SSH-2.0-OpenSSH_9.2\r\n', { code: 'PROTOCOL' }],
  ['a TLS alert', '\x15\x03\x03\x00\x02\x02\x46', { code: 'ONLY_TLS' }],
  ['a full server', '-ERR max number of clients reached\r\n', { code: 'MAXCLIENTS' }],
  ['protected mode', '-DENIED Redis is running in protected mode\r\n', { code: 'DENIED' }],
  ['an old server that requires a password', '-ERR operation not permitted\r\n', { code: 'NOAUTH' }],
])('%s is recognized by its first bytes', async (_name, words, expected) => {
  await listen(async (port) => {
    await expect(connectRedis(source({ port }), bound)).rejects.toMatchObject(expected);
  }, words);
});

test('a server that sends nothing ends in a timeout', async () => {
  const began = Date.now();
  await listen(async (port) => {
    await expect(connectRedis(source({ port }), { limit: 300 })).rejects.toMatchObject({
      phase: 'startup',
      code: 'ETIMEDOUT',
    });
    await expect(connectRedis(source({ port, disableSsl: false }), { limit: 300 })).rejects.toMatchObject({
      phase: 'tls',
      code: 'TLS',
    });
  }, '');
  expect(Date.now() - began).toBeLessThan(3000);
});

test('a closed port and an unknown name fail in the network phase', async () => {
  await expect(connectRedis(source({ port: 1 }), bound)).rejects.toMatchObject({
    phase: 'network',
    code: 'ECONNREFUSED',
  });
  await expect(connectRedis(source({ host: 'no-such-host.invalid', port: 1 }), bound)).rejects.toMatchObject({
    phase: 'network',
  });
});

test('the password is removed from a message that quotes it', () => {
  const own = source({ host: 'db', password: new Secret('open-sesame') });
  expect(redactServerMessage("ERR unknown command 'AUTH', with args beginning with: 'open-sesame' ", own)).toBe(
    "ERR unknown command 'AUTH'",
  );
  expect(redactServerMessage('ERR bad open-sesame here', own)).toBe('ERR bad [secret] here');
  expect(redactServerMessage('ERR a\x1b[2J\r\nb', own)).toBe('ERR a b');
});

test('the code of an error is its first word', () => {
  expect(parseErrorCode('NOAUTH Authentication required.')).toBe('NOAUTH');
  expect(parseErrorCode('BUSYKEY')).toBe('BUSYKEY');
  expect(parseErrorCode('Something else')).toBe('ERR');
});

test('an endless reply ends the session before it fills the memory', async () => {
  const endless = (heard: string) => (heard.includes('PING') ? '+PONG\r\n' : `+${'x'.repeat(40 * 2 ** 20)}`);
  await listen(async (port) => {
    const session = await connectRedis(source({ port }), bound);
    const failure = await session.send(['INFO']).catch((error: unknown) => error);
    session.end();
    expect(failure).toMatchObject({ code: 'PROTOCOL', lost: true });
  }, endless);
});
