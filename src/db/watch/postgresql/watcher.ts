import type { PostgresqlEndpoint } from '../../../postgresql/endpoint.ts';
import { sourceWords } from '../../source/index.ts';
import { knownStart, toRecordedSlot } from '../record.ts';
import type { SourceWatcher, WatcherOptions } from '../watcher.ts';
import type { ServerFacts } from './facts.ts';
import { foldPostgresPoll } from './fold.ts';
import { createPostgresObserver } from './observe.ts';
import { isTableSyncSlot } from './slots.ts';
import { createPostgresState, settleBaseline } from './state.ts';
import { changedTables } from './tables.ts';

/** The maximum number of changed tables whose columns are read in one poll. */
const maxDescribedTables = 20;

/** Watches a PostgreSQL source without writing to it. */
export function createPostgresWatcher(source: PostgresqlEndpoint, options: WatcherOptions): SourceWatcher {
  const { record, baseline, limits, clock, signal, onSent = () => {} } = options;
  const now = () => clock.now();
  const ignoreDbs = options.ignoreDbs ?? [];
  const observer = createPostgresObserver({ source, ignoreDbs, limits, now, signal, onSent });
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
    from: sourceWords({ engine: 'postgresql', source }, { ignoreDbs }),
    command: options.command,
    startedAt: record?.started?.at,
    baseline,
    role: source.username,
    migrationStart: (firstSeen: number | undefined) =>
      knownStart({ ...record, firstSeen: record?.firstSeen ?? firstSeen }, now()),
  };
  let known = baseline;
  let state = createPostgresState({ slots: record?.slots ?? [], firstSeen: record?.firstSeen }, baseline);
  /**
   * The changed tables of a database, whose columns are read; undefined (all tables) before the first poll of the
   * database.
   */
  const columnsOf = (name: string): readonly string[] | undefined => {
    const shapes = state.databases.get(name)?.shapes;
    return shapes === undefined ? undefined : changedTables(shapes).slice(0, maxDescribedTables);
  };
  return {
    async poll() {
      const step = foldPostgresPoll(state, await observer.poll(columnsOf), tracking);
      state = step.state;
      const activeSlots = [...state.databases.values()].flatMap(({ name, slot, missedPolls, identity, system }) =>
        slot === undefined || missedPolls > 0 ? [] : [toRecordedSlot({ name: slot, database: name }, identity, system)],
      );
      const { sample, idlePolls, caughtUpPolls, ending } = step;
      const settled = known === undefined ? undefined : settleBaseline(known, state);
      known = settled ?? known;
      return {
        sample,
        idlePolls,
        caughtUpPolls,
        reached: state.outage === undefined,
        ...(state.outage === undefined ? {} : { outage: state.outage.last.reason, outageCode: state.outage.last.code }),
        activeSlots,
        ...(state.outage === undefined ? { consumers: listLogicalSlots(state.window.at(-1)) } : {}),
        ...(ending === undefined ? {} : { ending }),
        ...(settled === undefined ? {} : { settled }),
      };
    },
    close: () => observer.close(),
  };
}

function listLogicalSlots(server: ServerFacts | undefined): readonly string[] {
  return (server?.slots ?? [])
    .filter((slot) => slot.database !== undefined && !slot.temporary && !isTableSyncSlot(slot))
    .map(({ name }) => name);
}
