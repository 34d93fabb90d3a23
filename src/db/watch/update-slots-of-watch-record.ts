import type { Clock } from '../../platform/host.ts';
import type { DbSource } from '../source/read-source.ts';
import { changeMigrationWatchRecord } from './change-migration-watch-record.ts';
import type { WatchedSourcePollResult } from './source-watcher.ts';
import {
  formatSourceName,
  type MigrationWatchRecord,
  readMigrationWatchRecord,
  type WatchedSourceAddress,
} from './watch-record.ts';
import { pollSourceContinuously } from './watch-source.ts';

/** The identity under which the watch record of a source is stored. */
export function getWatchedSourceAddress({ engine, source }: DbSource): WatchedSourceAddress {
  const { host, port } = source;
  return { engine, host, port, ...('dbname' in source ? { dbname: source.dbname } : {}) };
}

/**
 * Records the slots of the migration, so that the next watch detects a slot that was dropped between this watch and the
 * next. A state folder that is not writable does not end the watch. The next watch then finds no record of this watch.
 */
export function updateSlotsOfWatchRecord(path: string, source: DbSource, result: WatchedSourcePollResult): void {
  const empty = { engine: source.engine, source: formatSourceName(getWatchedSourceAddress(source)) };
  // If another process holds the lock of the record, the next poll records the slots.
  ignoreFileErrors(() => void changeMigrationWatchRecord(path, (record) => updateSlots(record ?? empty, result)));
}

function ignoreFileErrors(save: () => void): void {
  try {
    save();
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
  }
}

/** Records the target of the migration into this cluster, for the commands that `db status` and `db stop` suggest. */
export function saveWatchedTarget(path: string, cluster: string, target: string): void {
  const addTarget = (record: MigrationWatchRecord | undefined): MigrationWatchRecord | undefined =>
    record?.started?.cluster !== cluster || record.target === target ? undefined : { ...record, target };
  ignoreFileErrors(() => void changeMigrationWatchRecord(path, addTarget));
}

/**
 * Watches for a few seconds, and records the slots that the service creates, so that a later watch detects if one of these
 * slots was dropped. Ends when every database has a slot, at the latest after `limit` milliseconds.
 */
export async function watchAndRecordNewMigrationSlots(
  path: string,
  source: DbSource,
  { clock, ignoreDbs, limit }: { readonly clock: Clock; readonly ignoreDbs: readonly string[]; readonly limit: number },
): Promise<void> {
  const end = new AbortController();
  const endsAt = performance.now() + limit;
  const options = { clock, ignoreDbs, signal: end.signal, record: readMigrationWatchRecord(path) };
  for await (const result of pollSourceContinuously(source, 500, options)) {
    if (!result.reached) return;
    updateSlotsOfWatchRecord(path, source, result);
    const isComplete = result.sample.databases.every(({ slot }) => slot !== undefined);
    if (isComplete || performance.now() >= endsAt) return;
  }
}

/** The record with the slots of this poll, without slots if the migration has ended; undefined if nothing is new. */
function updateSlots(
  record: MigrationWatchRecord,
  { activeSlots, ending, sample }: WatchedSourcePollResult,
): MigrationWatchRecord | undefined {
  if (ending !== undefined) {
    const { slots: _slots, firstSeen: _firstSeen, ...rest } = record;
    return rest;
  }
  const known = record.slots ?? [];
  const fresh = activeSlots.filter((one) => !known.some((other) => JSON.stringify(other) === JSON.stringify(one)));
  if (fresh.length === 0) return undefined;
  const kept = known.filter(({ database }) => !fresh.some((one) => one.database === database));
  return { ...record, firstSeen: record.firstSeen ?? Date.parse(sample.at), slots: [...kept, ...fresh] };
}
