import { createHash } from 'node:crypto';
import { Redis } from 'ioredis';
import type { RedisServer } from '../../fixtures/redis.ts';

export interface RedisClientOptions {
  readonly host: string;
  readonly port: number;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  readonly tls?: boolean;
}

/** A session that says exactly what it is told, and no longer than it must. */
export async function withRedisClient<T>(
  { host, port, username, password, tls = false }: RedisClientOptions,
  work: (session: Redis) => Promise<T>,
): Promise<T> {
  const session = new Redis({
    host,
    port,
    lazyConnect: true,
    connectTimeout: 3000,
    commandTimeout: 5000,
    retryStrategy: () => null,
    enableReadyCheck: false,
    // The newer one greets before anybody has said a password.
    protocol: 2,
    maxRetriesPerRequest: 0,
    ...(tls ? { tls: { rejectUnauthorized: false } } : {}),
  });
  session.on('error', () => {});
  try {
    await session.connect();
    // By hand: the client takes some refusals for a success.
    if (password !== undefined) await session.call('AUTH', ...(username === undefined ? [] : [username]), password);
    return await work(session);
  } finally {
    session.disconnect();
  }
}

export function redisClientOptions(server: RedisServer, password?: string): RedisClientOptions {
  return { host: server.host, port: server.port, password, tls: server.ca !== undefined };
}

/** How many keys each database has, as in `db0:50 db3:50`. */
export function sizes(options: RedisClientOptions): Promise<string> {
  return withRedisClient(options, async (session) => {
    const text = await session.info('keyspace');
    return [...text.matchAll(/^(db\d+):keys=(\d+)/gm)].map(([, name, keys]) => `${name}:${keys}`).join(' ');
  });
}

/** Of several servers that have one keyspace together. */
export async function sizesOfAll(each: readonly RedisClientOptions[]): Promise<string> {
  const all = await Promise.all(each.map(sizes));
  const sums = new Map<string, number>();
  for (const part of all.flatMap((text) => text.split(' ').filter((word) => word !== ''))) {
    const [name = '', keys] = part.split(':');
    sums.set(name, (sums.get(name) ?? 0) + Number(keys));
  }
  return [...sums].map(([name, keys]) => `${name}:${keys}`).join(' ');
}

/** A hash of all keys and values, without some keys. */
export async function contentsOf(
  each: readonly RedisClientOptions[],
  databases: readonly number[],
  without: readonly string[] = [],
): Promise<string> {
  const hash = createHash('sha256');
  for (const options of each) {
    await withRedisClient(options, async (session) => {
      for (const db of databases) {
        if (databases.length > 1) await session.select(db);
        const keys = (await session.keys('*')).filter((key) => !without.includes(key)).toSorted();
        for (const key of keys) hash.update(`${db} ${key} `).update((await session.dumpBuffer(key)) ?? 'gone');
      }
    });
  }
  return hash.digest('hex');
}

/** Some of each kind, in one database. */
export function fill(options: RedisClientOptions, db: number): Promise<void> {
  return withRedisClient(options, async (session) => {
    if (db > 0) await session.select(db);
    for (let at = 0; at < 40; at += 1) await session.set(`text:${at}`, Buffer.from([at, 0, 255, 13, 10]));
    await session.hset('hash', { a: '1', b: '2' });
    await session.rpush('list', 'a', 'b');
    await session.zadd('sorted', 1, 'a', 2, 'b');
    await session.sadd('set', 'a', 'b');
    await session.xadd('stream', '*', 'field', 'value');
    await session.set('passing', 'x', 'EX', 100_000);
  });
}

/** Reads every key and writes it on the target: what is left where a replica is not let in. */
export async function scan(
  from: readonly RedisClientOptions[],
  to: RedisClientOptions,
  databases: readonly number[],
): Promise<void> {
  await withRedisClient(to, async (sink) => {
    for (const options of from) {
      await withRedisClient(options, async (source) => {
        for (const db of databases) {
          if (db > 0 || databases.length > 1) await Promise.all([source.select(db), sink.select(db)]);
          await scanOne(source, sink);
        }
      });
    }
  });
}

async function scanOne(source: Redis, sink: Redis): Promise<void> {
  let cursor = '0';
  do {
    const [next, keys] = await source.scan(cursor, 'COUNT', 1000);
    for (const key of keys) {
      const [value, left] = [await source.dumpBuffer(key), await source.pttl(key)];
      if (value !== null) await sink.restore(key, Math.max(0, left), value);
    }
    cursor = next;
  } while (cursor !== '0');
}
