import type { PostgresSource } from '../postgresql/source.ts';
import type { RedisSource } from '../redis/source.ts';
import { type Limits, usual } from './limits.ts';
import { watchPostgresql } from './postgresql/watch.ts';
import { watchRedis } from './redis/watch.ts';
import type { Looked, WatchOptions } from './watcher.ts';

export type WatchedSource =
  | { readonly engine: 'postgresql'; readonly source: PostgresSource }
  | { readonly engine: 'redis'; readonly source: RedisSource };

/**
 * Looks at a migration from its source, which is only read, until the signal, or until nothing will ever come of it again.
 * A source that does not answer is waited for, with growing pauses. Never throws for what the source does.
 * @param interval milliseconds between two looks
 */
export async function* watch(
  { engine, source }: WatchedSource,
  interval: number,
  options: Omit<WatchOptions, 'limits'> & { readonly limits?: Partial<Limits> },
): AsyncGenerator<Looked> {
  const { clock, signal } = options;
  const given = { ...usual, ...options.limits };
  // Who looks seldom has seen little of what is missing.
  const limits = { ...given, gone: Math.max(given.gone, 2 * interval) };
  const all = { ...options, limits };
  const watcher = engine === 'redis' ? watchRedis(source, all) : watchPostgresql(source, all);
  try {
    for (let failures = 0; !signal.aborted; ) {
      const began = clock.now();
      const looked = await watcher.look();
      if (signal.aborted) return;
      yield looked;
      if (looked.ending !== undefined) return;
      failures = looked.reached ? 0 : failures + 1;
      const pause = Math.min(interval * 2 ** Math.max(0, failures - 1), Math.max(interval, limits.backoff));
      // The clock may have been set, either way, while it looked.
      const left = Math.min(pause, Math.max(0, began + pause - clock.now()));
      await clock.sleep(left, signal).catch(() => {});
    }
  } finally {
    await watcher.close();
  }
}
