import { describe, expect, it, onTestFinished } from 'vitest';
import { createRedisSharedStore } from '../../src/shared-store/redis-shared-store.ts';
import type { SharedSessionStore } from '../../src/shared-store/shared-session.ts';
import { parseSharedStoreUrl } from '../../src/shared-store/store-url.ts';
import { lacks } from '../fixtures/needs.ts';
import { type RedisServer, startRedis } from '../fixtures/redis.ts';

const log = 'cloudctl:{aa}:default:log';
const rights = '+eval +info +hget +hset +hdel +hgetall +time +xrevrange +wait +ping +select';

/** A server whose user `ci` may not add entries to a log, and a function that opens the store as a user. */
async function redisServer(): Promise<{ server: RedisServer; open: (user?: string) => SharedSessionStore }> {
  const server = await startRedis();
  onTestFinished(() => server.stop());
  server.cli('ACL', 'SETUSER', 'ci', 'on', '>password', '~cloudctl:*', ...rights.split(' '));
  const open = (user = ''): SharedSessionStore => {
    const address = parseSharedStoreUrl(`redis://${user}${server.host}:${server.port}/0`, () => undefined);
    if (address.engine !== 'redis') throw new Error('another engine');
    const store = createRedisSharedStore(address.source, { share: 'aa', profile: 'default' });
    onTestFinished(() => store.close());
    return store;
  };
  return { server, open };
}

const version = { epoch: 5, sid: 'aa', gen: 1 };
const login = { op: 'commit', by: 'a', event: 'login', kid: 'k', record: 'r1', ...version } as const;
const claim = { op: 'claim', by: 'a', attempt: '1', leaseMs: 60_000, ...version } as const;
const refresh = { ...login, event: 'refresh', gen: 2, record: 'r2' } as const;

describe.skipIf(lacks('redis-server'))('a session is stored in Redis although its log entry cannot be', () => {
  it.each([
    ['the user has no right to add one', 'ci:password@', () => undefined],
    ['the log has another type', '', (server: RedisServer) => server.cli('SET', log, 'text')],
  ])('because %s, which is reported', async (_why, user, damage) => {
    const { server, open } = await redisServer();
    damage(server);
    const store = open(user);
    for (const operation of [login, claim, refresh])
      expect(await store.run(operation)).toMatchObject({ applied: true });
    expect(await store.run({ op: 'read' })).toMatchObject({ row: { gen: 2, record: 'r2', activeKid: 'k' } });
    expect(await store.findLogFailure?.()).toMatch(/xadd|WRONGTYPE/);
  });

  it('and the check of the log adds nothing to it', async () => {
    const { server, open } = await redisServer();
    const store = open();
    expect(await store.findLogFailure?.()).toBeUndefined();
    expect(server.cli('EXISTS', log)).toBe('0');
    await store.run(login);
    expect(await store.findLogFailure?.()).toBeUndefined();
    expect(server.cli('XLEN', log)).toBe('1');
  });
});

describe.skipIf(lacks('redis-server'))('a script that the server ends', () => {
  it('has stored nothing of the commit if the user may not delete fields', async () => {
    const { server, open } = await redisServer();
    await open().run(login);
    server.cli('ACL', 'SETUSER', 'ci', '-hdel');
    await expect(open('ci:password@').run(refresh)).rejects.toMatchObject({ lost: false });
    expect((await open().run({ op: 'read' })).row).toMatchObject({ gen: 1, record: 'r1' });
  });

  it('does not end before the commit of a refresh is stored, although no memory is left', async () => {
    const { server, open } = await redisServer();
    const store = open();
    await store.run(login);
    await store.run(claim);
    server.cli('CONFIG', 'SET', 'maxmemory', '1');
    expect(server.cli('SET', 'another', 'value')).toContain('OOM');
    expect(await store.run(refresh)).toMatchObject({ applied: true, row: { gen: 2, record: 'r2' } });
  });
});
