import type { CommandIo } from '../../cli/command-io.ts';
import type { HostSystem } from '../../platform/host.ts';
import { runUntilSignal } from '../../platform/waiting.ts';
import type { PostgresqlEndpoint } from '../../postgresql/endpoint.ts';
import { connectRedis } from '../../redis/connection.ts';
import type { RedisEndpoint } from '../../redis/endpoint.ts';
import { parseInfo } from '../../redis/info.ts';
import type { DbSource } from '../source/index.ts';
import { type WatchLimits, watchLimits } from './limits.ts';
import type { SourceBaseline } from './postgresql/baseline.ts';
import { takeBaseline } from './postgresql/observe.ts';
import { createPostgresWatcher } from './postgresql/watcher.ts';
import {
  changeRecord,
  formatSourceName,
  pathOfBaseline,
  pathOfRecord,
  type RecordedStart,
  readRecord,
  type SourceAddress,
  storeBaseline,
  type WatchRecord,
} from './record.ts';
import { parseRedisFacts } from './redis/facts.ts';
import { type RunKeys, readRunKeys } from './redis/lost.ts';
import { createRedisWatcher } from './redis/watcher.ts';
import type { PollResult, WatcherOptions } from './watcher.ts';

export type WatchedSource =
  | { readonly engine: 'postgresql'; readonly source: PostgresqlEndpoint }
  | { readonly engine: 'redis'; readonly source: RedisEndpoint };

/**
 * Polls the source of a migration, without writing to it, until the signal is aborted or the migration cannot continue.
 * While the source cannot be reached, the pauses between the polls grow. Failures of the source never make the function
 * throw.
 * @param interval milliseconds between two polls
 */
export async function* pollSource(
  { engine, source }: WatchedSource,
  interval: number,
  options: Omit<WatcherOptions, 'limits'> & { readonly limits?: Partial<WatchLimits> },
): AsyncGenerator<PollResult> {
  const { clock, signal } = options;
  const given = { ...watchLimits, ...options.limits };
  // With a long interval, two polls must fail before the source counts as unreachable.
  const limits = { ...given, gone: Math.max(given.unreachable, 2 * interval) };
  const all = { ...options, limits };
  const watcher = engine === 'redis' ? createRedisWatcher(source, all) : createPostgresWatcher(source, all);
  try {
    for (let failures = 0; !signal.aborted; ) {
      const startedAt = clock.now();
      const result = await watcher.poll();
      if (signal.aborted) return;
      yield result;
      if (result.ending !== undefined) return;
      failures = result.reached ? 0 : failures + 1;
      const pause = Math.min(interval * 2 ** Math.max(0, failures - 1), Math.max(interval, limits.maxBackoff));
      // The system clock may have been set forwards or backwards during the poll.
      const left = Math.min(pause, Math.max(0, startedAt + pause - clock.now()));
      await clock.sleep(left, signal).catch(() => {});
    }
  } finally {
    await watcher.close();
  }
}

/** The identity under which the watch record of a source is stored. */
export function sourceAddress({ engine, source }: DbSource): SourceAddress {
  const { host, port } = source;
  return { engine, host, port, ...('dbname' in source ? { dbname: source.dbname } : {}) };
}

/**
 * Records the slots of the migration, so that the next watch detects a slot that was dropped between this watch and the
 * next. A state folder that is not writable does not end the watch. The next watch then finds no record of this watch.
 */
export function updateRecordedSlots(path: string, source: DbSource, result: PollResult): void {
  const empty = { engine: source.engine, source: formatSourceName(sourceAddress(source)) };
  // If another process holds the lock of the record, the next poll records the slots.
  ignoreFileErrors(() => void changeRecord(path, (record) => updateSlots(record ?? empty, result)));
}

function ignoreFileErrors(save: () => void): void {
  try {
    save();
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
  }
}

/** Stores the baseline of the migration with this id, unless another one was started meanwhile. */
export function updateBaseline(
  stateFolder: string,
  source: DbSource,
  { cluster, id }: Pick<RecordedStart, 'cluster' | 'id'>,
  baseline: SourceBaseline,
): void {
  const address = sourceAddress(source);
  if (readRecord(pathOfRecord(stateFolder, address))?.started?.id !== id) return;
  ignoreFileErrors(() => storeBaseline(pathOfBaseline(stateFolder, address, cluster), baseline));
}

/** Records the target of the migration into this cluster, for the commands that `db status` and `db stop` suggest. */
export function saveWatchedTarget(path: string, cluster: string, target: string): void {
  const addTarget = (record: WatchRecord | undefined): WatchRecord | undefined =>
    record?.started?.cluster !== cluster || record.target === target ? undefined : { ...record, target };
  ignoreFileErrors(() => void changeRecord(path, addTarget));
}

/**
 * Watches for a few seconds, and records the slots that the service creates, so that a later watch detects if one of these
 * slots was dropped. Ends when every database has a slot, at the latest after `limit` milliseconds.
 */
export async function recordNewSlots(
  { folders, clock }: Pick<HostSystem, 'folders' | 'clock'>,
  source: DbSource,
  ignoreDbs: readonly string[],
  limit = 5000,
): Promise<void> {
  const path = pathOfRecord(folders.state, sourceAddress(source));
  const end = new AbortController();
  const endsAt = performance.now() + limit;
  const options = { clock, ignoreDbs, signal: end.signal, record: readRecord(path) };
  for await (const result of pollSource(source, 500, options)) {
    if (!result.reached) return;
    updateRecordedSlots(path, source, result);
    const isComplete = result.sample.databases.every(({ slot }) => slot !== undefined);
    if (isComplete || performance.now() >= endsAt) return;
  }
}

/** The record with what this poll saw, without slots if the migration has ended; undefined if nothing is new. */
function updateSlots(record: WatchRecord, result: PollResult): WatchRecord | undefined {
  const { runKeys } = result;
  const changed = updateSlotsAlone(record, result);
  if (runKeys === undefined || !isNewCount(record.runKeys, runKeys)) return changed;
  return { ...(changed ?? record), runKeys };
}

/** A record is not written again for every key: the loss of half of them is what it has to show. */
function isNewCount(known: RunKeys | undefined, now: RunKeys): boolean {
  return known?.run !== now.run || Math.abs(known.keys - now.keys) > known.keys / 10;
}

function updateSlotsAlone(record: WatchRecord, { activeSlots, ending, sample }: PollResult): WatchRecord | undefined {
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

/** The facts about the source that are read before a migration starts. */
export interface SourceBefore {
  /** Slots or replicas of other consumers; undefined: not known. */
  readonly slots?: readonly string[];
  /** The baseline of a PostgreSQL source; undefined for a Redis source, or if the source could not be read. */
  readonly baseline?: SourceBaseline;
  readonly runKeys?: WatchRecord['runKeys'];
  /** Why the source could not be read, which does not prevent the migration. */
  readonly failure?: string;
}

/** Milliseconds for reading the source before a migration. */
const beforeLimit = 20_000;

/**
 * Reads the source as it is before the migration, so that `db watch` can name what changed later. A source that cannot be read
 * does not prevent the migration.
 */
export function readBefore(
  { host }: Pick<CommandIo, 'host'>,
  source: DbSource,
  ignoreDbs: readonly string[],
): Promise<SourceBefore> {
  return runUntilSignal(host.signals, 'the migration was not started', (signal) =>
    observeBefore(source, { ignoreDbs, now: () => host.clock.now(), limit: beforeLimit, signal }),
  );
}

/** @param limit milliseconds */
export async function observeBefore(
  watched: WatchedSource,
  options: {
    readonly ignoreDbs: readonly string[];
    readonly now: () => number;
    readonly limit: number;
    readonly signal: AbortSignal;
  },
): Promise<SourceBefore> {
  if (watched.engine === 'redis') return observeRedis(watched, options);
  const taken = await takeBaseline(watched.source, options);
  return typeof taken === 'string' ? { failure: taken } : taken;
}

async function observeRedis(
  { source }: Extract<WatchedSource, { engine: 'redis' }>,
  { limit, now, signal }: { readonly limit: number; readonly now: () => number; readonly signal: AbortSignal },
): Promise<SourceBefore> {
  try {
    const session = await connectRedis(source, { limit, signal });
    try {
      const info = parseInfo(String(await session.send(['INFO'], limit)));
      const facts = parseRedisFacts(info, { at: 0, connection: undefined, config: new Map() });
      const runKeys = readRunKeys(info, now());
      return { slots: facts.replicas.map(({ name }) => name), ...(runKeys === undefined ? {} : { runKeys }) };
    } finally {
      session.end();
    }
  } catch (error) {
    return { failure: error instanceof Error ? error.message : String(error) };
  }
}
