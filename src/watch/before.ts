import { connect as connectPostgresql } from '../postgresql/connection.ts';
import { connect as connectRedis } from '../redis/connection.ts';
import { readInfo } from '../redis/info.ts';
import { ask } from './postgresql/ask.ts';
import { isSyncSlot } from './postgresql/ours.ts';
import { slots } from './postgresql/server-questions.ts';
import { readFacts } from './redis/facts.ts';
import type { WatchedSource } from './watch.ts';

/**
 * Slots, or replicas, that are there before a migration is started: they are somebody else's. undefined: the source did not
 * tell, which is no reason not to start.
 * @param limit milliseconds
 */
export async function carriersBefore(
  watched: WatchedSource,
  limit: number,
  signal?: AbortSignal,
): Promise<readonly string[] | undefined> {
  try {
    return watched.engine === 'redis'
      ? await replicas(watched, limit, signal)
      : await slotNames(watched, limit, signal);
  } catch {
    return undefined;
  }
}

async function slotNames(
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
    const [rows] = await session.query("SELECT current_setting('server_version_num') AS version", limit);
    const asking = { session, version: Number(rows?.[0]?.version), limit, onSent: () => {}, denied: new Set<string>() };
    const { read, failure } = await ask([slots], asking);
    return failure(slots) !== undefined
      ? undefined
      : read(slots)
          .filter((slot) => !isSyncSlot(slot))
          .map(({ name }) => name);
  } finally {
    await session.end();
  }
}

async function replicas({ source }: Extract<WatchedSource, { engine: 'redis' }>, limit: number, signal?: AbortSignal) {
  const session = await connectRedis(source, { limit, signal });
  try {
    const info = readInfo(String(await session.send(['INFO', 'replication'], limit)));
    const facts = readFacts(info, { at: 0, door: undefined, config: new Map() });
    return facts.replicas.map(({ name }) => name);
  } finally {
    session.end();
  }
}
