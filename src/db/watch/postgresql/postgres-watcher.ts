import type { PostgresqlEndpoint } from '../../../postgresql/endpoint.ts';
import type { SourceWatcher, SourceWatchOptions } from '../source-watcher.ts';
import { getKnownMigrationStart, toRecordedSlot } from '../watch-record.ts';
import { createPostgresSourceObserver } from './postgres-observer.ts';
import { findTablesChangedSinceFirstPoll } from './track-table-definition-changes.ts';
import { createPostgresWatchState } from './tracking-state.ts';
import { updatePostgresWatchState } from './update-postgres-watch-state.ts';

/** The maximum number of changed tables whose columns are read in one poll. */
const maxDescribedTables = 20;

/** Watches a PostgreSQL source without writing to it. */
export function createPostgresWatcher(source: PostgresqlEndpoint, options: SourceWatchOptions): SourceWatcher {
  const { record, baseline, limits, clock, signal, onSent = () => {} } = options;
  const now = () => clock.now();
  const ignoreDbs = options.ignoreDbs ?? [];
  const observer = createPostgresSourceObserver({ source, ignoreDbs, limits, now, signal, onSent });
  const tracking = {
    limits,
    ignoreDbs,
    hints: {
      named: options.slots ?? [],
      id: record?.started?.id,
      before: record?.before,
      target: options.target,
    },
    preflightWarnings: record?.warned ?? [],
    cluster: record?.started?.cluster,
    startedAt: record?.started?.at,
    baseline,
    role: source.username,
    migrationStart: (firstSeen: number | undefined) =>
      getKnownMigrationStart({ ...record, firstSeen: record?.firstSeen ?? firstSeen }, now()),
  };
  let state = createPostgresWatchState({ slots: record?.slots ?? [], firstSeen: record?.firstSeen }, baseline);
  /**
   * The changed tables of a database, whose columns are read; undefined (all tables) before the first poll of the
   * database.
   */
  const columnsOf = (name: string): readonly string[] | undefined => {
    const shapes = state.databases.get(name)?.shapes;
    return shapes === undefined ? undefined : findTablesChangedSinceFirstPoll(shapes).slice(0, maxDescribedTables);
  };
  return {
    async poll() {
      const step = updatePostgresWatchState(state, await observer.poll(columnsOf), tracking);
      state = step.state;
      const activeSlots = [...state.databases.values()].flatMap(({ name, slot, missedPolls, identity, system }) =>
        slot === undefined || missedPolls > 0 ? [] : [toRecordedSlot({ name: slot, database: name }, identity, system)],
      );
      const { sample, idlePolls, caughtUpPolls, ending } = step;
      return {
        sample,
        idlePolls,
        caughtUpPolls,
        reached: state.outage === undefined,
        ...(state.outage === undefined ? {} : { outage: state.outage.last.reason, outageCode: state.outage.last.code }),
        activeSlots,
        ...(ending === undefined ? {} : { ending }),
      };
    },
    close: () => observer.close(),
  };
}
