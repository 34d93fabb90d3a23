import type { MigrationWatchPhase } from '../status-sample.ts';
import type { MigrationSlotSelection } from './choose-slots.ts';
import type { WatchedServerFacts } from './server-facts.ts';
import type { WatchedDatabaseState } from './tracking-state.ts';

/** The notes of a poll: ambiguous slots, queries that the role may not run, and that there is no slot yet. */
export function buildWatchPollNotes(
  { ambiguous }: MigrationSlotSelection,
  phase: MigrationWatchPhase,
  denied: readonly string[],
): { notes?: readonly string[] } {
  const notes = [
    ...(ambiguous.length === 0
      ? []
      : [`several slots may belong to the migration: ${ambiguous.join(', ')}; choose with --slot`]),
    ...(denied.length === 0 ? [] : [`not readable for this role: ${denied.join(', ')}`]),
    ...(phase === 'waiting' ? ['there is no replication slot of a migration yet'] : []),
  ];
  return notes.length === 0 ? {} : { notes };
}

/** The ids of the queries that failed on the server or in a database. */
export function listDeniedWatchQueries(
  server: WatchedServerFacts,
  databases: ReadonlyMap<string, WatchedDatabaseState>,
): readonly string[] {
  const own = [...databases.values()].flatMap(({ facts }) => facts?.denied ?? []);
  return [...new Set([...server.denied, ...own])];
}
