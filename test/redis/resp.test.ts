import { expect, test } from 'vitest';
import { parseRedisEndpoint } from '../../src/redis/endpoint.ts';
import { openSocket } from '../../src/redis/redis-socket.ts';
import { encodeCommand, requestLine } from '../../src/redis/resp.ts';
import { listen } from './listen.ts';

const bound = { limit: 1000 };
const source = (port: number) => parseRedisEndpoint({ host: '127.0.0.1', port, disableSsl: true }).source;

test('a command is counted in bytes, not in characters', () => {
  expect(encodeCommand(['GET', 'ü\r\n']).toString('utf8')).toBe('*2\r\n$3\r\nGET\r\n$4\r\nü\r\n\r\n');
});

test('lines are read one at a time, and what follows stays for the next reader', async () => {
  await listen(async (port) => {
    const { socket } = await openSocket(source(port), bound);
    expect(await requestLine(socket, undefined, bound)).toBe('+first');
    expect(await requestLine(socket, undefined, bound)).toBe('-second line');
    socket.resume();
    expect(String(await new Promise((resolve) => socket.once('data', resolve)))).toBe('rest');
    socket.destroy();
  }, '+first\r\n-second line\r\nrest');
});

test('a sign of life without words is an empty line', async () => {
  await listen(async (port) => {
    const { socket } = await openSocket(source(port), bound);
    expect(await requestLine(socket, undefined, bound)).toBe('');
    socket.destroy();
  }, '\n');
});

test('a line is read however much has arrived behind it', async () => {
  await listen(
    async (port) => {
      const { socket } = await openSocket(source(port), bound);
      expect(await requestLine(socket, undefined, bound)).toBe('$EOF:mark');
      socket.destroy();
    },
    `$EOF:mark\r\n${'x'.repeat(300_000)}`,
  );
});

test('a line that never ends is no Redis', async () => {
  await listen(
    async (port) => {
      const { socket } = await openSocket(source(port), bound);
      await expect(requestLine(socket, undefined, bound)).rejects.toMatchObject({ code: 'PROTOCOL' });
      socket.destroy();
    },
    `+${'x'.repeat(70_000)}`,
  );
});

test('a socket that was closed before is told at once', async () => {
  await listen(async (port) => {
    const { socket } = await openSocket(source(port), bound);
    socket.destroy();
    await expect(requestLine(socket, ['PING'], bound)).rejects.toMatchObject({ code: 'ECONNRESET' });
  });
});
