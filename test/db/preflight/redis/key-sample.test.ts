import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Secret } from '../../../../src/base/secret.ts';
import { sampleKeys } from '../../../../src/db/preflight/redis/source.ts';
import { connectRedis, type RedisConnection } from '../../../../src/redis/connection.ts';
import { parseRedisEndpoint } from '../../../../src/redis/endpoint.ts';
import type { RedisCommand } from '../../../../src/redis/resp.ts';
import { lacks } from '../../../fixtures/needs.ts';
import { type RedisServer, startRedis } from '../../../fixtures/redis.ts';

describe.skipIf(lacks('redis-server', 'redis-cli'))('a sample of a real server', () => {
  let server: RedisServer;
  const connect = (username?: string, onCommand?: (command: RedisCommand) => void): Promise<RedisConnection> => {
    const password = username === undefined ? undefined : new Secret('pw');
    const { source } = parseRedisEndpoint({
      host: server.host,
      port: server.port,
      disableSsl: true,
      username,
      password,
    });
    return connectRedis(source, { limit: 2000, onCommand });
  };

  beforeAll(async () => {
    server = await startRedis();
    server.script(
      [
        'SET plain v',
        'SET "\\xff\\x00 binary" v',
        'SELECT 3',
        'RPUSH list a b',
        'XADD stream * f v',
        'ACL SETUSER few on >pw ~app:* +@all',
        'ACL SETUSER none on >pw ~* +info +select',
      ].join('\n'),
    );
  });
  afterAll(() => server.stop());

  test('holds keys of every database with type and size, whatever their names are', async () => {
    const sent: string[] = [];
    const session = await connect(undefined, (command) => sent.push(command[0]));
    const { keys, isAll } = await sampleKeys(session, [0, 3]);
    session.end();
    const seen = keys.map(({ database, name, type }) => `${database} ${name} ${type}`).sort();
    expect(seen).toEqual(['0 plain string', '0 \ufffd binary string', '3 list list', '3 stream stream'].sort());
    expect(keys.every(({ bytes }) => bytes !== undefined && bytes > 20)).toBe(true);
    expect(isAll).toBe(true);
    expect([...new Set(sent)].sort()).toEqual(['MEMORY', 'PING', 'SCAN', 'SELECT', 'TYPE']);
  });

  test('is limited for many keys, and reports that it is', async () => {
    server.cli('-n', '5', 'eval', 'for i=1,3000 do redis.call("SET", "k"..i, i) end', '0');
    const session = await connect();
    const { keys, isAll } = await sampleKeys(session, [0, 3, 5]);
    session.end();
    expect(keys.length).toBeLessThanOrEqual(256);
    expect(keys.filter(({ database }) => database === 5).length).toBeGreaterThan(50);
    expect(isAll).toBe(false);
  });

  test.each(['few', 'none'])(
    'a user without permission (%s) gets an error instead of an empty sample',
    async (username) => {
      const session = await connect(username);
      await expect(sampleKeys(session, [0, 3])).rejects.toMatchObject({ code: 'NOPERM' });
      session.end();
    },
  );
});
