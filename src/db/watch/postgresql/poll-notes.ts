import { formatBytes, formatDuration } from '../../../base/text.ts';
import type { MigrationWatchPhase } from '../status-sample.ts';
import { findWatchedSlot } from './rule-input.ts';
import type { WatchedServerFacts } from './server-facts.ts';
import { findTablesWithUnconfirmedWrites } from './track-database.ts';
import type { WatchedDatabaseState } from './tracking-state.ts';

/** The notes of a poll: queries that the role may not run, and that there is no slot yet. */
export function buildWatchPollNotes(
  phase: MigrationWatchPhase,
  denied: readonly string[],
  silent: readonly string[],
): { notes?: readonly string[] } {
  const notes = [
    ...silent,
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

/** Polls, and milliseconds, in which a connected target confirms nothing before the watch says so. */
const silentPolls = 3;
const confirmPeriod = 2000;

/** One note for each connected target that confirms nothing although tables of its database are written. */
export function findSilentTargets(
  window: readonly WatchedServerFacts[],
  databases: Iterable<WatchedDatabaseState>,
): readonly string[] {
  const now = window.at(-1);
  return [...databases].flatMap((database) => {
    const { slot: name } = database;
    const flushed = now === undefined || name === undefined ? undefined : findWatchedSlot(now, name)?.flushed;
    if (now === undefined || name === undefined || flushed === undefined) return [];
    const isSame = (facts: WatchedServerFacts) => {
      const slot = findWatchedSlot(facts, name);
      return slot?.active === true && slot.flushed === flushed;
    };
    const since = window.slice(window.findLastIndex((facts) => !isSame(facts)) + 1);
    const [first] = since;
    if (first === undefined || since.length < silentPolls || now.at - first.at < confirmPeriod) return [];
    const written = (now.walPosition ?? 0) - (first.walPosition ?? 0);
    if (written <= 0 || findTablesWithUnconfirmedWrites(database).length === 0) return [];
    return [
      `the target is connected to slot ${name} but has confirmed nothing for ${formatDuration(now.at - first.at)}, while the source wrote ${formatBytes(written)}`,
    ];
  });
}
