import { connectRedis } from '../../redis/connection.ts';
import { parseRedisInfo } from '../../redis/info.ts';
import { takeWatchedSourceBaseline } from './postgresql/take-watched-source-baseline.ts';
import type { WatchedSourceBaseline } from './postgresql/watched-source-baseline.ts';
import { parseWatchedRedisFacts } from './redis/redis-facts.ts';
import type { WatchedSource } from './watch-source.ts';

/** The facts about the source that are read before a migration starts. */
export interface SourceBeforeMigration {
  /** Slots or replicas of other consumers; undefined: not known. */
  readonly slots?: readonly string[];
  /** The baseline of a PostgreSQL source; undefined for a Redis source, or if the source could not be read. */
  readonly baseline?: WatchedSourceBaseline;
  /** Why the source could not be read, which does not prevent the migration. */
  readonly failure?: string;
}

/** @param limit milliseconds */
export async function observeSourceBeforeMigration(
  watched: WatchedSource,
  options: {
    readonly ignoreDbs: readonly string[];
    readonly now: () => number;
    readonly limit: number;
    readonly signal: AbortSignal;
  },
): Promise<SourceBeforeMigration> {
  if (watched.engine === 'redis') return observeRedis(watched, options);
  const taken = await takeWatchedSourceBaseline(watched.source, options);
  return typeof taken === 'string' ? { failure: taken } : taken;
}

async function observeRedis(
  { source }: Extract<WatchedSource, { engine: 'redis' }>,
  { limit, signal }: { readonly limit: number; readonly signal: AbortSignal },
): Promise<SourceBeforeMigration> {
  try {
    const session = await connectRedis(source, { limit, signal });
    try {
      const info = parseRedisInfo(String(await session.send(['INFO', 'replication'], limit)));
      const facts = parseWatchedRedisFacts(info, { at: 0, connection: undefined, config: new Map() });
      return { slots: facts.replicas.map(({ name }) => name) };
    } finally {
      session.end();
    }
  } catch (error) {
    return { failure: error instanceof Error ? error.message : String(error) };
  }
}
