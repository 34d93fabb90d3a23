import type { RedisEndpoint } from '../../../redis/endpoint.ts';
import type { SourceWatcher, SourceWatchOptions } from '../source-watcher.ts';
import { getKnownMigrationStart, toRecordedSlot } from '../watch-record.ts';
import { createRedisSourceObserver } from './redis-observer.ts';
import { createRedisMigrationWatchState, updateRedisWatchState } from './track-redis-poll.ts';

/** Watches a Redis source without writing to it. */
export function createRedisWatcher(source: RedisEndpoint, options: SourceWatchOptions): SourceWatcher {
  const { record, limits, clock, signal, onSent = () => {} } = options;
  const now = () => clock.now();
  const observer = createRedisSourceObserver({ source, limits, now, signal, onSent });
  const tracking = {
    limits,
    hints: { named: options.slots ?? [], id: record?.started?.id, before: record?.before },
    user: source.username,
    migrationStart: (firstSeen: number | undefined) =>
      getKnownMigrationStart({ ...record, firstSeen: record?.firstSeen ?? firstSeen }, now()),
  };
  let state = createRedisMigrationWatchState(record?.slots?.[0], record?.firstSeen, now());
  return {
    async poll() {
      const step = updateRedisWatchState(state, await observer.poll(), tracking);
      state = step.state;
      const { sample, idlePolls, caughtUpPolls, ending } = step;
      const { knownReplica, identity, lastConnectedAt, window } = state;
      return {
        sample,
        idlePolls,
        caughtUpPolls,
        reached: state.outage === undefined,
        ...(state.outage === undefined ? {} : { outage: state.outage.reason, outageCode: state.outage.code }),
        missingMs: Math.max(0, state.lastPollAt - lastConnectedAt),
        activeSlots:
          knownReplica === undefined || lastConnectedAt !== window.at(-1)?.at
            ? []
            : [toRecordedSlot({ name: knownReplica, database: '' }, identity)],
        ...(ending === undefined ? {} : { ending }),
      };
    },
    close: () => observer.close(),
  };
}
