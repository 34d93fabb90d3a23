import type { PostgresqlEndpoint } from '../../postgresql/endpoint.ts';
import type { RedisEndpoint } from '../../redis/endpoint.ts';
import { defaultMigrationWatchLimits, type MigrationWatchLimits } from './migration-watch-limits.ts';
import { createPostgresWatcher } from './postgresql/postgres-watcher.ts';
import { createRedisWatcher } from './redis/redis-watcher.ts';
import type { SourceWatchOptions, WatchedSourcePollResult } from './source-watcher.ts';

export type WatchedSource =
  | { readonly engine: 'postgresql'; readonly source: PostgresqlEndpoint }
  | { readonly engine: 'redis'; readonly source: RedisEndpoint };

/**
 * Polls the source of a migration, without writing to it, until the signal is aborted or the migration cannot continue.
 * While the source cannot be reached, the pauses between the polls grow. Failures of the source never make the function
 * throw.
 * @param interval milliseconds between two polls
 */
export async function* pollSourceContinuously(
  { engine, source }: WatchedSource,
  interval: number,
  options: Omit<SourceWatchOptions, 'limits'> & { readonly limits?: Partial<MigrationWatchLimits> },
): AsyncGenerator<WatchedSourcePollResult> {
  const { clock, signal } = options;
  const given = { ...defaultMigrationWatchLimits, ...options.limits };
  // With a long interval, two polls must fail before the source counts as unreachable.
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
      // The system clock may have been set forwards or backwards during the poll.
      const left = Math.min(pause, Math.max(0, startedAt + pause - clock.now()));
      await clock.sleep(left, signal).catch(() => {});
    }
  } finally {
    await watcher.close();
  }
}
