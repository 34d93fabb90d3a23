import { expect, test } from 'vitest';
import { Secret } from '../../src/base/secret.ts';
import { parseRedisEndpoint } from '../../src/redis/endpoint.ts';
import { openSocket } from '../../src/redis/redis-socket.ts';
import { authenticateRedis } from '../../src/redis/resp.ts';
import { listen } from './listen.ts';

const bound = { limit: 1000 };

test.each<readonly [string, string, string | undefined, object]>([
  ['nobody asks', '+PONG\r\n', undefined, { auth: 'open' }],
  ['the password is right', '+OK\r\n+PONG\r\n', 'pw', { auth: 'password' }],
  [
    'the server has none, before 6.0',
    '-ERR Client sent AUTH, but no password is set\r\n+PONG\r\n',
    'pw',
    { auth: 'needless' },
  ],
  [
    'the server has none',
    '-ERR AUTH <password> called without any password configured for the default user.\r\n+PONG\r\n',
    'pw',
    { auth: 'needless' },
  ],
  ['it is loading', '-LOADING Redis is loading\r\n', undefined, { auth: 'open', notice: { code: 'LOADING' } }],
  ['it cannot save', '-MISCONF Redis is configured\r\n', undefined, { notice: { code: 'MISCONF' } }],
  ['PING is forbidden', "+OK\r\n-NOPERM no 'ping'\r\n", 'pw', { auth: 'password', notice: { code: 'NOPERM' } }],
])('in, when %s', async (_name, words, password, expected) => {
  await listen(async (port) => {
    expect(await tried(port, password)).toMatchObject(expected);
  }, words);
});

test.each<readonly [string, string, string | undefined, object]>([
  ['a password is asked', '-NOAUTH Authentication required.\r\n', undefined, { code: 'NOAUTH' }],
  ['the password is wrong', '-WRONGPASS invalid username-password pair\r\n', 'pw', { code: 'WRONGPASS' }],
  [
    'the password is wrong, before 6.0',
    '-ERR invalid password\r\n',
    'pw',
    { code: 'ERR', message: 'ERR invalid password' },
  ],
  ['users are unknown', "-ERR wrong number of arguments for 'auth' command\r\n", 'pw', { code: 'ERR' }],
])('not in, when %s', async (_name, words, password, expected) => {
  await listen(async (port) => {
    await expect(tried(port, password)).rejects.toMatchObject({ phase: 'startup', ...expected });
  }, words);
});

async function tried(port: number, password: string | undefined) {
  const { source } = parseRedisEndpoint({
    host: '127.0.0.1',
    port,
    disableSsl: true,
    password: password === undefined ? undefined : new Secret(password),
  });
  const { socket } = await openSocket(source, bound);
  try {
    return await authenticateRedis(socket, source, bound);
  } finally {
    socket.destroy();
  }
}
