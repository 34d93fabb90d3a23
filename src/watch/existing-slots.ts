import { connectPostgresql } from '../postgresql/connection.ts';
import { connectRedis } from '../redis/connection.ts';
import { parseInfo } from '../redis/info.ts';
import { isTableSyncSlot } from './postgresql/choose-slots.ts';
import { slotStatusQuery } from './postgresql/server-queries.ts';
import { queryVersion, runWatchQueries } from './postgresql/watch-query.ts';
import { parseRedisFacts } from './redis/redis-facts.ts';
import type { WatchedSource } from './watch-source.ts';

/**
 * Names of the slots or replicas that exist before a migration starts, and so belong to other consumers.
 * @param limit time limit in milliseconds
 * @returns undefined if the source could not be read, which does not prevent the migration
 */
export async function listExistingSlots(
  watched: WatchedSource,
  limit: number,
  signal?: AbortSignal,
): Promise<readonly string[] | undefined> {
  try {
    return watched.engine === 'redis'
      ? await listRedisReplicas(watched, limit, signal)
      : await listPostgresSlots(watched, limit, signal);
  } catch {
    return undefined;
  }
}

async function listPostgresSlots(
  { source }: Extract<WatchedSource, { engine: 'postgresql' }>,
  limit: number,
  signal?: AbortSignal,
) {
  const session = await connectPostgresql(source, {
    dbname: source.dbname,
    limit,
    signal,
    applicationName: 'cloudctl-watch',
  });
  try {
    const opened = { session, limit, onSent: () => {} };
    const querySession = { ...opened, version: await queryVersion(opened), deniedIds: new Set<string>() };
    const { read, failure } = await runWatchQueries([slotStatusQuery], querySession);
    return failure(slotStatusQuery) !== undefined
      ? undefined
      : read(slotStatusQuery)
          .filter((slot) => !isTableSyncSlot(slot))
          .map(({ name }) => name);
  } finally {
    await session.end();
  }
}

async function listRedisReplicas(
  { source }: Extract<WatchedSource, { engine: 'redis' }>,
  limit: number,
  signal?: AbortSignal,
) {
  const session = await connectRedis(source, { limit, signal });
  try {
    const info = parseInfo(String(await session.send(['INFO', 'replication'], limit)));
    const facts = parseRedisFacts(info, { at: 0, connection: undefined, config: new Map() });
    return facts.replicas.map(({ name }) => name);
  } finally {
    session.end();
  }
}
