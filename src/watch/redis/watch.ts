import type { RedisSource } from '../../redis/source.ts';
import { clockedBy } from '../record.ts';
import type { Watcher, WatchOptions } from '../watcher.ts';
import { observeRedis } from './observe.ts';
import { advance, emptyMemory } from './track.ts';

/** Looks at a Redis source; reads only. */
export function watchRedis(source: RedisSource, options: WatchOptions): Watcher {
  const { record, limits, clock, signal, onSent = () => {} } = options;
  const now = () => clock.now();
  const observer = observeRedis({ source, limits, now, signal, onSent });
  const tracking = {
    limits,
    named: options.slots ?? [],
    clocked: (firstSeen: number | undefined) =>
      clockedBy({ ...record, firstSeen: record?.firstSeen ?? firstSeen }, now()),
  };
  let memory = emptyMemory(record?.slots?.[0]?.name, record?.before, record?.firstSeen, now());
  return {
    async look() {
      const step = advance(memory, await observer.look(), tracking);
      memory = step.memory;
      const { sighting, idle, ending } = step;
      const { had, lastThere, window } = memory;
      return {
        sighting,
        idle,
        reached: memory.outage === undefined,
        ...(memory.outage === undefined ? {} : { outage: memory.outage.reason }),
        carriers: had === undefined || lastThere !== window.at(-1)?.at ? [] : [{ name: had, database: '' }],
        ...(ending === undefined ? {} : { ending }),
      };
    },
    close: () => observer.close(),
  };
}
