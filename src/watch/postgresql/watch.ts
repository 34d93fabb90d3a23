import type { PostgresSource } from '../../postgresql/source.ts';
import { clockedBy } from '../record.ts';
import type { Watcher, WatchOptions } from '../watcher.ts';
import { emptyMemory } from './memory.ts';
import { observePostgresql } from './observe.ts';
import { advance } from './track.ts';

/** Looks at a PostgreSQL source; reads only. */
export function watchPostgresql(source: PostgresSource, options: WatchOptions): Watcher {
  const { record, limits, clock, signal, onSent = () => {} } = options;
  const now = () => clock.now();
  const ignoreDbs = options.ignoreDbs ?? [];
  const observer = observePostgresql({ source, ignoreDbs, limits, now, signal, onSent });
  const tracking = {
    limits,
    ignoreDbs,
    named: options.slots ?? [],
    warned: record?.warned ?? [],
    clocked: (firstSeen: number | undefined) =>
      clockedBy({ ...record, firstSeen: record?.firstSeen ?? firstSeen }, now()),
  };
  let memory = emptyMemory({ slots: record?.slots ?? [], before: record?.before, firstSeen: record?.firstSeen });
  return {
    async look() {
      const step = advance(memory, await observer.look(), tracking);
      memory = step.memory;
      const carriers = [...memory.databases.values()].flatMap(({ name, slot, missing }) =>
        slot === undefined || missing > 0 ? [] : [{ name: slot, database: name }],
      );
      const { sighting, idle, ending } = step;
      return {
        sighting,
        idle,
        reached: memory.outage === undefined,
        ...(memory.outage === undefined ? {} : { outage: memory.outage.last.reason }),
        carriers,
        ...(ending === undefined ? {} : { ending }),
      };
    },
    close: () => observer.close(),
  };
}
