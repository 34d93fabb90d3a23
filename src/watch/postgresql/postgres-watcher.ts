import type { PostgresqlSource } from '../../postgresql/source.ts';
import type { SourceWatcher, WatchOptions } from '../source-watcher.ts';
import { migrationStartOf } from '../watch-record.ts';
import { createPostgresObserver } from './postgres-observer.ts';
import { trackPostgresPoll } from './track-postgres-poll.ts';
import { initialPostgresState } from './tracking-state.ts';

/** Watches a PostgreSQL source without writing to it. */
export function createPostgresWatcher(source: PostgresqlSource, options: WatchOptions): SourceWatcher {
  const { record, limits, clock, signal, onSent = () => {} } = options;
  const now = () => clock.now();
  const ignoreDbs = options.ignoreDbs ?? [];
  const observer = createPostgresObserver({ source, ignoreDbs, limits, now, signal, onSent });
  const tracking = {
    limits,
    ignoreDbs,
    namedSlots: options.slots ?? [],
    preflightWarnings: record?.warned ?? [],
    migrationStart: (firstSeen: number | undefined) =>
      migrationStartOf({ ...record, firstSeen: record?.firstSeen ?? firstSeen }, now()),
  };
  let state = initialPostgresState({
    slots: record?.slots ?? [],
    otherSlots: record?.before,
    firstSeen: record?.firstSeen,
  });
  return {
    async poll() {
      const step = trackPostgresPoll(state, await observer.poll(), tracking);
      state = step.state;
      const activeSlots = [...state.databases.values()].flatMap(({ name, slot, missedPolls }) =>
        slot === undefined || missedPolls > 0 ? [] : [{ name: slot, database: name }],
      );
      const { sample, idlePolls, ending } = step;
      return {
        sample,
        idlePolls,
        reached: state.outage === undefined,
        ...(state.outage === undefined ? {} : { outage: state.outage.last.reason }),
        activeSlots,
        ...(ending === undefined ? {} : { ending }),
      };
    },
    close: () => observer.close(),
  };
}
