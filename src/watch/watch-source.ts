import type { PostgresqlSource } from '../postgresql/source.ts';
import type { RedisSource } from '../redis/source.ts';
import { createPostgresWatcher } from './postgresql/postgres-watcher.ts';
import { createRedisWatcher } from './redis/redis-watcher.ts';
import type { PollResult, WatchOptions } from './source-watcher.ts';
import { defaultWatchLimits, type WatchLimits } from './watch-limits.ts';

export type WatchedSource =
  | { readonly engine: 'postgresql'; readonly source: PostgresqlSource }
  | { readonly engine: 'redis'; readonly source: RedisSource };

/**
 * Looks at a migration from its source, which is only read, until the signal, or until nothing will ever come of it again.
 * A source that does not answer is waited for, with growing pauses. Never throws for what the source does.
 * @param interval milliseconds between two looks
 */
export async function* watchSource(
  { engine, source }: WatchedSource,
  interval: number,
  options: Omit<WatchOptions, 'limits'> & { readonly limits?: Partial<WatchLimits> },
): AsyncGenerator<PollResult> {
  const { clock, signal } = options;
  const given = { ...defaultWatchLimits, ...options.limits };
  // Who looks seldom has seen little of what is missing.
  const limits = { ...given, gone: Math.max(given.unreachable, 2 * interval) };
  const all = { ...options, limits };
  const watcher = engine === 'redis' ? createRedisWatcher(source, all) : createPostgresWatcher(source, all);
  try {
    for (let failures = 0; !signal.aborted; ) {
      const startedAt = clock.now();
      const result = await watcher.poll();
      if (signal.aborted) return;
      yield result;
      if (result.ending !== undefined) return;
      failures = result.reached ? 0 : failures + 1;
      const pause = Math.min(interval * 2 ** Math.max(0, failures - 1), Math.max(interval, limits.maxBackoff));
      // The clock may have been set, either way, while it looked.
      const left = Math.min(pause, Math.max(0, startedAt + pause - clock.now()));
      await clock.sleep(left, signal).catch(() => {});
    }
  } finally {
    await watcher.close();
  }
}
