import { describe, expect, test } from 'vitest';
import { parseRedisEndpoint } from '../../src/redis/endpoint.ts';
import { openSocket, redisTlsOptions } from '../../src/redis/redis-socket.ts';
import { lacks } from '../fixtures/needs.ts';
import { startRedis } from '../fixtures/redis.ts';

const ca = { file: 'ca.pem', pem: 'PEM' };

test('a name is told to the server, an address is not', () => {
  expect(redisTlsOptions(parseRedisEndpoint({ host: 'db.example.com' }).source)).toMatchObject({
    servername: 'db.example.com',
  });
  expect(redisTlsOptions(parseRedisEndpoint({ host: '::1' }).source)).not.toHaveProperty('servername');
});

test('with a CA the server is verified, without one only encrypted', () => {
  expect(redisTlsOptions(parseRedisEndpoint({ host: 'db' }).source)).toMatchObject({ rejectUnauthorized: false });
  expect(redisTlsOptions(parseRedisEndpoint({ host: 'db', ca }).source)).toMatchObject({
    rejectUnauthorized: true,
    ca: 'PEM',
  });
});

describe.skipIf(lacks('redis-server', 'openssl'))('with a real server', () => {
  test('the certificate is read, and its name is verified', async () => {
    const server = await startRedis({ tls: true });
    const parts = { port: server.port, ca: server.ca };
    try {
      const { socket, tls } = await openSocket(parseRedisEndpoint({ host: 'localhost', ...parts }).source, {
        limit: 2000,
      });
      expect(tls?.certificate).toMatchObject({ subject: 'CN=localhost', issuer: 'CN=Test CA', selfSigned: false });
      socket.destroy();
      const other = parseRedisEndpoint({ host: 'other.example.com', ...parts }).source;
      await expect(openSocket({ ...other, address: '127.0.0.1' }, { limit: 2000 })).rejects.toMatchObject({
        phase: 'tls',
        code: 'TLS',
      });
    } finally {
      await server.stop();
    }
  });
});
