import { describe, expect, it } from 'vitest';
import { catchSharedStoreUnavailable } from '../../src/session/catch-shared-store-unavailable.ts';
import { initializeSharedStore } from '../../src/shared-store/initialize-shared-store.ts';
import { openSharedStore } from '../../src/shared-store/open-shared-store.ts';
import { parseSharedStoreUrl } from '../../src/shared-store/store-url.ts';
import { lacks } from '../fixtures/needs.ts';
import { startPostgres } from '../fixtures/postgres.ts';
import { eventually, startRedis } from '../fixtures/redis.ts';
import { startStandby } from '../fixtures/standby.ts';

const session = { epoch: 1, sid: 'aa', gen: 1, kid: 'k', record: 'r' };

async function storeAt(url: string) {
  const address = parseSharedStoreUrl(url, () => undefined);
  return openSharedStore(address, { share: '0123456789abcdef', profile: 'default' });
}

/** What a machine gets that reads from this server, or tries to store a record there. */
async function usesOf(url: string) {
  const store = await storeAt(url);
  const login = { op: 'commit', by: 'a', event: 'login', ...session, epoch: 2 } as const;
  const results = [];
  for (const operation of [{ op: 'read' } as const, login])
    results.push(await catchSharedStoreUnavailable(store.location, () => store.run(operation)));
  await store.close();
  return results;
}

const refused = {
  kind: 'unavailable',
  reason: expect.stringMatching(/recovery|READONLY/),
  hint: expect.stringContaining('primary'),
};

describe('a replica is never read, because it may be behind its primary', () => {
  it('PostgreSQL', async () => {
    const primary = await startPostgres({ direct: true, settings: { wal_level: 'replica', max_wal_senders: 4 } });
    const url = (port: number) => `postgres://postgres:${primary.password}@127.0.0.1:${port}/postgres`;
    const owner = parseSharedStoreUrl(url(primary.port), () => undefined);
    await initializeSharedStore(owner, 'members');
    const store = await storeAt(url(primary.port));
    await store.run({ op: 'commit', by: 'a', event: 'login', ...session });
    await store.close();
    const standby = await startStandby(primary, { settings: { hot_standby: 'on' } });
    expect(await usesOf(url(standby.ownPort))).toMatchObject([refused, refused]);
  }, 60_000);

  it.skipIf(lacks('redis-server'))('Redis', async () => {
    const primary = await startRedis({ config: ['appendonly yes'] });
    const replica = await startRedis({ config: [`replicaof ${primary.host} ${primary.port}`] });
    const store = await storeAt(`redis://${primary.host}:${primary.port}/0`);
    await store.run({ op: 'commit', by: 'a', event: 'login', ...session });
    await eventually(() => replica.cli('EXISTS', 'cloudctl:{0123456789abcdef}:default') === '1', 'the session');
    expect(await usesOf(`redis://${replica.host}:${replica.port}/0`)).toMatchObject([refused, refused]);
    // The read of the primary has changed nothing.
    const before = primary.cli('HGETALL', 'cloudctl:{0123456789abcdef}:default');
    expect(await store.run({ op: 'read' })).toMatchObject({ applied: true, row: { gen: 1 } });
    expect(primary.cli('HGETALL', 'cloudctl:{0123456789abcdef}:default')).toBe(before);
    await store.close();
    await Promise.all([primary.stop(), replica.stop()]);
  });
});
