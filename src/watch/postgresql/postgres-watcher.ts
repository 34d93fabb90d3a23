import type { PostgresqlSource } from '../../postgresql/source.ts';
import type { SourceWatcher, WatchOptions } from '../source-watcher.ts';
import { migrationStartOf } from '../watch-record.ts';
import { createPostgresObserver } from './postgres-observer.ts';
import { trackPostgresPoll } from './track-postgres-poll.ts';
import { initialPostgresState } from './tracking-state.ts';

/** Looks at a PostgreSQL source; reads only. */
export function createPostgresWatcher(source: PostgresqlSource, options: WatchOptions): SourceWatcher {
  const { record, limits, clock, signal, onSent = () => {} } = options;
  const now = () => clock.now();
  const ignoreDbs = options.ignoreDbs ?? [];
  const observer = createPostgresObserver({ source, ignoreDbs, limits, now, signal, onSent });
  const tracking = {
    limits,
    ignoreDbs,
    named: options.slots ?? [],
    warned: record?.warned ?? [],
    clocked: (firstSeen: number | undefined) =>
      migrationStartOf({ ...record, firstSeen: record?.firstSeen ?? firstSeen }, now()),
  };
  let memory = initialPostgresState({
    slots: record?.slots ?? [],
    before: record?.before,
    firstSeen: record?.firstSeen,
  });
  return {
    async poll() {
      const step = trackPostgresPoll(memory, await observer.poll(), tracking);
      memory = step.state;
      const carriers = [...memory.databases.values()].flatMap(({ name, slot, missing }) =>
        slot === undefined || missing > 0 ? [] : [{ name: slot, database: name }],
      );
      const { sample: sighting, idlePolls: idle, ending } = step;
      return {
        sample: sighting,
        idlePolls: idle,
        reached: memory.outage === undefined,
        ...(memory.outage === undefined ? {} : { outage: memory.outage.last.reason }),
        activeSlots: carriers,
        ...(ending === undefined ? {} : { ending }),
      };
    },
    close: () => observer.close(),
  };
}
