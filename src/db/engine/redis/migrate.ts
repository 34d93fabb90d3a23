import { countOf } from '../../../base/text.ts';
import type { RedisConnection } from '../../../redis/connection.ts';
import type { RedisEndpoint } from '../../../redis/endpoint.ts';
import { infoNumber, parseKeyspace, type RedisInfo } from '../../../redis/info.ts';
import { parseServerVersion, productNames, type ServerVersion } from '../../../redis/version.ts';
import { MigrationError, managedSourceMessage, redactReason } from '../error.ts';
import type { EngineSystem, RedisInput } from '../input.ts';
import type { RedisEntry } from '../journal.ts';
import type { Reconnecting } from '../session.ts';
import { initialDatabase, type Progress, recordOutage, type StalledPhase, type TableProgress } from '../state.ts';
import {
  detachTarget,
  isReplicaOf,
  readDatabaseLimit,
  readReplicaSettings,
  readServerInfo,
  replicaSettings,
  replicate,
  writeReplicaSettings,
} from './replica.ts';
import { openRedisSession, retryWhileBusy } from './session.ts';

/**
 * Makes the target a replica of the source until the migration is stopped or, with `finishWhenIdle`, has had nothing to
 * replicate for `idleTime`.
 */
export async function migrateRedis(
  job: RedisInput,
  deps: EngineSystem,
  migrationProgress: Progress,
  stop: AbortSignal,
): Promise<void> {
  const source = openRedisSession(job.source, deps, stop);
  const target = openRedisSession(job.target, deps, stop);
  let entry: RedisEntry | undefined;
  let failure: string | undefined;
  const showBusy = (error: unknown) => {
    const reason = `a server is busy: ${redactReason(error, job.source.password, job.target.password)}`;
    recordLinkOutage(migrationProgress, 'server_busy', reason);
  };
  try {
    const settings = await retryWhileBusy(() => prepareTarget(job, deps, stop), deps, stop, showBusy);
    entry = { engine: 'redis', name: `redis ${job.id}`, source: job.source, target: job.target, settings };
    deps.journal.recordIntent(entry);
    await retryWhileBusy(() => startReplication(job, deps, stop), deps, stop, showBusy);
    await replicateUntilStopped({ source, target, job, deps, migrationProgress, stop });
  } catch (error) {
    failure = redactReason(error, job.source.password, job.target.password);
  }
  await Promise.all([source.close(), target.close()]);
  if (entry !== undefined) {
    const left = await detachTarget(entry, deps);
    migrationProgress.leftovers.push(...left);
    if (left.length === 0) deps.journal.recordRemoved(entry.name);
  }
  for (const progress of migrationProgress.databases) {
    progress.reason = undefined;
    progress.error = stop.aborted ? undefined : failure;
    progress.phase = stop.aborted ? 'stopped' : failure === undefined ? 'done' : 'error';
  }
  if (failure !== undefined && !stop.aborted) throw new MigrationError(failure);
}

async function withRedisSession<T>(
  endpoint: RedisEndpoint,
  deps: EngineSystem,
  signal: AbortSignal,
  task: (session: RedisConnection) => Promise<T>,
): Promise<T> {
  const session = await deps.connectRedis(endpoint, { limit: deps.limits.connectTimeout, signal });
  try {
    return await task(session);
  } finally {
    session.end();
  }
}

/** Checks both servers and returns the current settings of the target. Changes nothing. */
async function prepareTarget(
  { source, target, managedServers = [] }: RedisInput,
  deps: EngineSystem,
  signal: AbortSignal,
) {
  const sourceInfo = await withRedisSession(source, deps, signal, readServerInfo);
  const run = sourceInfo.get('run_id');
  for (const server of managedServers.filter((one) => one !== target)) {
    const info = await withRedisSession(server, deps, signal, readServerInfo).catch(() => undefined);
    if (run !== undefined && info?.get('run_id') === run) throw new MigrationError(managedSourceMessage);
  }
  return withRedisSession(target, deps, signal, async (session) => {
    assertRedisCompatible(sourceInfo, await readServerInfo(session), await readDatabaseLimit(session));
    return readReplicaSettings(session);
  });
}

/**
 * Checks whether source and target are the same server, which would have no effect or delete the data. The target must be empty, because a
 * new replica first deletes all its keys.
 */
function assertRedisCompatible(source: RedisInfo, target: RedisInfo, databases: number): void {
  if (source.get('run_id') !== undefined && source.get('run_id') === target.get('run_id')) {
    throw new MigrationError('source and target are the same server');
  }
  const [sourceInfo, targetInfo] = [parseServerVersion(source), parseServerVersion(target)];
  if (sourceInfo !== undefined && targetInfo !== undefined && isNewer(sourceInfo.redis, targetInfo.redis)) {
    throw new MigrationError(
      `the source (${nameOf(sourceInfo)}) is newer than the target (${nameOf(targetInfo)}): a migration needs a target of the same or a newer version`,
    );
  }
  const keyCount = parseKeyspace(target).reduce((sum, one) => sum + one.keys, 0);
  if (keyCount > 0)
    throw new MigrationError(
      `the target is not empty: it contains ${countOf(keyCount, 'key')}, which a replica would delete`,
    );
  const outOfRange = parseKeyspace(source).find(({ index }) => index >= databases);
  if (outOfRange !== undefined) {
    // The target must have enough databases, because Redis exits when it loads a snapshot with a database number that
    // is out of range.
    throw new MigrationError(
      `the source has keys in database ${outOfRange.index}, and the target has ${databases} (setting: databases)`,
    );
  }
}

/** Versions of two products cannot be compared, so a Valkey is named with the Redis it is like. */
function nameOf({ product, version, redis }: ServerVersion): string {
  const like = product === 'redis' || redis === '' ? '' : `, compatible with Redis ${redis}`;
  return `${productNames[product]} ${version}${like}`;
}

function isNewer(one: string, other: string): boolean {
  const [[major = 0, minor = 0], [otherMajor = 0, otherMinor = 0]] = [versionNumbers(one), versionNumbers(other)];
  return major > otherMajor || (major === otherMajor && minor > otherMinor);
}

function versionNumbers(version: string): readonly number[] {
  return version.split('.').map(Number);
}

async function startReplication(
  { source, target }: RedisInput,
  deps: EngineSystem,
  signal: AbortSignal,
): Promise<void> {
  await withRedisSession(target, deps, signal, async (session) => {
    await writeReplicaSettings(session, replicaSettings(source), await readReplicaSettings(session));
    await replicate(session, source);
  });
}

interface ReplicationContext {
  readonly source: Reconnecting<RedisConnection>;
  readonly target: Reconnecting<RedisConnection>;
  readonly job: RedisInput;
  readonly deps: EngineSystem;
  readonly migrationProgress: Progress;
  readonly stop: AbortSignal;
}

/**
 * Resolves when the migration is stopped or, with `finishWhenIdle`, has had nothing to replicate for `idleTime`;
 * rejects if the migration cannot continue.
 */
async function replicateUntilStopped({
  source,
  target,
  job,
  deps,
  migrationProgress,
  stop,
}: ReplicationContext): Promise<void> {
  const { now, limits, sleep } = deps;
  let downSince: number | undefined;
  let hasBeenUp = false;
  let previous: LinkStatus | undefined;
  let idleSince: number | undefined;
  let idlePolls = 0;
  try {
    while (!stop.aborted) {
      const sourceInfo = await source.run(readServerInfo);
      const targetInfo = await target.run(readServerInfo);
      const describe = (error: unknown) => redactReason(error, job.source.password, job.target.password);
      if (sourceInfo === undefined) {
        const reason = `could not reach the source: ${describe(source.outage())}`;
        recordLinkOutage(migrationProgress, 'source_unreachable', reason);
        idleSince = undefined;
      } else if (targetInfo === undefined) {
        const reason = `could not reach the target: ${describe(target.outage())}`;
        recordLinkOutage(migrationProgress, 'target_unreachable', reason);
        idleSince = undefined;
      }
      if (sourceInfo !== undefined && targetInfo !== undefined) {
        const isOurs = isReplicaOf(targetInfo, job.source);
        const why = isOurs ? linkDown : notReplica;
        const status = buildRedisReplicationStatus(sourceInfo, targetInfo, isOurs);
        updateProgress(migrationProgress, status);
        downSince = status.isUp || status.isCopying ? undefined : (downSince ?? performance.now());
        if (downSince !== undefined && performance.now() - downSince > limits.outageTimeout) {
          throw new MigrationError(why);
        }
        hasBeenUp ||= status.isUp;
        // A replication link that was never up may still be connecting, so it counts as down only after ten poll intervals.
        const isDown =
          downSince !== undefined && (hasBeenUp || performance.now() - downSince > 10 * limits.pollInterval);
        if (isDown) recordLinkOutage(migrationProgress, 'link_down', why);
        // The offset of the target is compared with the offset of the source in the previous poll, because pings
        // advance the offset like writes.
        const isQuiet =
          status.isUp &&
          previous !== undefined &&
          status.targetOffset >= previous.sourceOffset &&
          status.writeMarker === previous.writeMarker;
        previous = status;
        idleSince = isQuiet ? (idleSince ?? now()) : undefined;
        idlePolls = idleSince !== undefined && now() - idleSince >= limits.idleTime ? idlePolls + 1 : 0;
        if (job.finishWhenIdle && idlePolls >= 2) return;
      }
      await sleep(limits.pollInterval, stop);
    }
  } catch (error) {
    if (!stop.aborted) throw error;
  }
}

const linkDown = 'the replication link of the target is down: see the log of the target';

const notReplica =
  'the target is not a replica of the source any more: it was restarted, or something else ran REPLICAOF there';

/** Records for all databases of the server why no data is transferred at present. */
export function recordLinkOutage({ databases }: Progress, phase: StalledPhase, reason: string): void {
  // The databases are not known before both servers have been polled once.
  if (databases.length === 0) databases.push({ ...initialDatabase('db0'), method: 'continuous' });
  for (const progress of databases) {
    recordOutage(progress, phase, reason);
    // What arrived before says nothing of what was written since.
    progress.lagBytes = undefined;
  }
}

/** Records a poll of both servers. A database whose last key was deleted remains in the progress, with 0 keys. */
export function updateProgress({ databases }: Progress, { isUp, lagBytes, databases: polled }: LinkStatus): void {
  for (const { name } of polled) {
    if (!databases.some((one) => one.name === name)) {
      databases.push({ ...initialDatabase(name), method: 'continuous' });
    }
  }
  for (const progress of databases) {
    const keys = polled.find(({ name }) => name === progress.name)?.keys;
    progress.tables = [keys ?? { name: 'keys', stage: isUp ? 'r' : 'i', rows: 0 }];
    progress.lagBytes = lagBytes;
    progress.reason = undefined;
    progress.phase = isUp ? 'streaming' : 'copying';
  }
}

/** The replication state of a Redis target, from the replies of both servers to INFO. */
export interface LinkStatus {
  readonly isUp: boolean;
  /**
   * Whether a full synchronization is running. False while the source refuses the target, which then only requests a
   * full synchronization every second.
   */
  readonly isCopying: boolean;
  readonly lagBytes: number;
  /** Offsets in the replication stream of the source, in bytes: written by the source, processed by the target. */
  readonly sourceOffset: number;
  readonly targetOffset: number;
  /**
   * A value that changes with every write of a client. The replication offsets also advance without writes, because of
   * pings.
   */
  readonly writeMarker: string;
  readonly databases: readonly RedisDatabaseProgress[];
}

interface RedisDatabaseProgress {
  readonly name: string;
  readonly keys: TableProgress;
}

function buildRedisReplicationStatus(source: RedisInfo, target: RedisInfo, isOurs: boolean): LinkStatus {
  const isSyncing = target.get('master_sync_in_progress') === '1';
  const hasPendingReplica = [...source].some(
    ([name, value]) => /^slave\d+$/.test(name) && !value.includes('state=online'),
  );
  const isCopying =
    isOurs && isSyncing && (hasPendingReplica || (infoNumber(target, 'master_sync_read_bytes') ?? 0) > 0);
  const isUp = isOurs && target.get('master_link_status') === 'up' && !isSyncing;
  const sourceOffset = infoNumber(source, 'master_repl_offset') ?? 0;
  const targetOffset = infoNumber(target, 'slave_repl_offset') ?? 0;
  return {
    isUp,
    isCopying,
    lagBytes: Math.max(0, sourceOffset - targetOffset),
    sourceOffset,
    targetOffset,
    writeMarker: (['rdb_last_save_time', 'rdb_changes_since_last_save'] as const)
      .map((name) => source.get(name))
      .join(),
    databases: databasesOf(source, target, isUp),
  };
}

function databasesOf(source: RedisInfo, target: RedisInfo, isUp: boolean): readonly RedisDatabaseProgress[] {
  const counts = new Map(parseKeyspace(target).map(({ index, keys }) => [index, keys]));
  const indexes = new Set([...parseKeyspace(source).map(({ index }) => index), ...counts.keys()]);
  // An empty source has no databases in INFO, but is replicated as well; its first key may appear in any database.
  return (indexes.size === 0 ? [0] : [...indexes])
    .sort((a, b) => a - b)
    .map((index) => {
      const rows = counts.get(index) ?? 0;
      return { name: `db${index}`, keys: { name: 'keys', stage: isUp ? 'r' : rows === 0 ? 'i' : 'd', rows } };
    });
}
