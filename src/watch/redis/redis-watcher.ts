import type { RedisSource } from '../../redis/source.ts';
import type { SourceWatcher, WatchOptions } from '../source-watcher.ts';
import { migrationStartOf } from '../watch-record.ts';
import { createRedisObserver } from './redis-observer.ts';
import { initialRedisState, trackRedisPoll } from './track-redis-poll.ts';

/** Looks at a Redis source; reads only. */
export function createRedisWatcher(source: RedisSource, options: WatchOptions): SourceWatcher {
  const { record, limits, clock, signal, onSent = () => {} } = options;
  const now = () => clock.now();
  const observer = createRedisObserver({ source, limits, now, signal, onSent });
  const tracking = {
    limits,
    named: options.slots ?? [],
    clocked: (firstSeen: number | undefined) =>
      migrationStartOf({ ...record, firstSeen: record?.firstSeen ?? firstSeen }, now()),
  };
  let memory = initialRedisState(record?.slots?.[0]?.name, record?.before, record?.firstSeen, now());
  return {
    async poll() {
      const step = trackRedisPoll(memory, await observer.poll(), tracking);
      memory = step.state;
      const { sample: sighting, idlePolls: idle, ending } = step;
      const { had, lastThere, window } = memory;
      return {
        sample: sighting,
        idlePolls: idle,
        reached: memory.outage === undefined,
        ...(memory.outage === undefined ? {} : { outage: memory.outage.reason }),
        activeSlots: had === undefined || lastThere !== window.at(-1)?.at ? [] : [{ name: had, database: '' }],
        ...(ending === undefined ? {} : { ending }),
      };
    },
    close: () => observer.close(),
  };
}
