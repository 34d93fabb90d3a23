import type { PostgresqlEndpoint } from '../../../postgresql/endpoint.ts';
import { defaultMigrationWatchLimits } from '../migration-watch-limits.ts';
import { isTableSyncSlot } from './choose-slots.ts';
import { createPostgresSourceObserver } from './postgres-observer.ts';
import type { WatchedDatabaseFacts } from './server-facts.ts';
import { createWatchedSourceBaseline, type WatchedSourceBaseline } from './watched-source-baseline.ts';

export interface TakeWatchedSourceBaselineOptions {
  readonly ignoreDbs: readonly string[];
  /** The clock of this machine, in milliseconds since the epoch. */
  readonly now: () => number;
  /** Time limit in milliseconds; databases that are not read within the limit are left out. */
  readonly limit: number;
  readonly signal: AbortSignal;
}

/**
 * Reads the source before a migration starts. The returned slots are those of other consumers.
 * @returns if the source could not be read, the reason as a text without a secret
 */
export async function takeWatchedSourceBaseline(
  source: PostgresqlEndpoint,
  { ignoreDbs, now, limit, signal }: TakeWatchedSourceBaselineOptions,
): Promise<{ readonly slots: readonly string[]; readonly baseline: WatchedSourceBaseline } | string> {
  const limits = { ...defaultMigrationWatchLimits, pollTimeout: Math.min(limit, 5000) };
  const observer = createPostgresSourceObserver({ source, ignoreDbs, limits, now, signal, onSent: () => {} });
  const read = new Map<string, WatchedDatabaseFacts>();
  const startedAt = performance.now();
  try {
    for (;;) {
      // Columns of all tables.
      const poll = await observer.poll(() => undefined);
      if (poll.kind === 'outage') return poll.outage.reason;
      for (const [name, facts] of poll.databases) if (facts.shapes !== undefined) read.set(name, facts);
      const wanted = poll.server.databases.filter(({ name }) => !ignoreDbs.includes(name));
      const isOver = performance.now() - startedAt > limit || poll.databases.size === 0;
      if (!isOver && !wanted.every(({ name }) => read.has(name))) continue;
      const slots = poll.server.slots.filter((slot) => !isTableSyncSlot(slot)).map(({ name }) => name);
      return { slots, baseline: createWatchedSourceBaseline(poll.server, read.values()) };
    }
  } finally {
    await observer.close();
  }
}
