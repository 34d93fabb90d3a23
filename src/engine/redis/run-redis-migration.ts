import type { RedisSession } from '../../redis/connection.ts';
import { parseKeyspace, type RedisInfo } from '../../redis/info.ts';
import type { RedisSource } from '../../redis/source.ts';
import { parseServerVersion } from '../../redis/version.ts';
import { MigrationError, managedSourceMessage, redactedReason } from '../migration-error.ts';
import type { EngineDependencies, RedisMigrationJob } from '../migration-job.ts';
import type { RedisJournalEntry } from '../migration-journal.ts';
import type { MigrationProgress } from '../migration-progress.ts';
import type { ReconnectingSession } from '../reconnecting-session.ts';
import { detachTarget } from './detach-target.ts';
import { openRedisSession, retryWhileBusy } from './reconnecting-redis-session.ts';
import { recordOutageOfDatabases, updateProgress } from './redis-progress.ts';
import { type RedisReplicationStatus, readReplicationStatus } from './redis-replication-status.ts';
import {
  readDatabaseLimit,
  readReplicaSettings,
  readServerInfo,
  replicaSettingsFor,
  startReplicaOf,
  writeReplicaSettings,
} from './replica.ts';

/**
 * Makes the target a replica of the source until the migration is stopped or, with `finishWhenIdle`, has had nothing to
 * replicate for `idleTime`.
 */
export async function runRedisMigration(
  job: RedisMigrationJob,
  deps: EngineDependencies,
  migrationProgress: MigrationProgress,
  stop: AbortSignal,
): Promise<void> {
  const source = openRedisSession(job.source, deps, stop);
  const target = openRedisSession(job.target, deps, stop);
  let entry: RedisJournalEntry | undefined;
  let failure: string | undefined;
  const showBusy = (error: unknown) => {
    const reason = `a server is busy: ${redactedReason(error, job.source.password, job.target.password)}`;
    recordOutageOfDatabases(migrationProgress, 'server_busy', reason);
  };
  try {
    const settings = await retryWhileBusy(() => prepareTarget(job, deps, stop), deps, stop, showBusy);
    entry = { engine: 'redis', name: `redis ${job.id}`, source: job.source, target: job.target, settings };
    deps.journal.recordIntent(entry);
    await retryWhileBusy(() => startReplication(job, deps, stop), deps, stop, showBusy);
    await replicateUntilStopped({ source, target, job, deps, migrationProgress, stop });
  } catch (error) {
    failure = redactedReason(error, job.source.password, job.target.password);
  }
  await Promise.all([source.close(), target.close()]);
  if (entry !== undefined) {
    const left = await detachTarget(entry, deps);
    migrationProgress.leftovers.push(...left);
    if (left.length === 0) deps.journal.recordRemoved(entry.name);
  }
  for (const progress of migrationProgress.databases) {
    progress.reason = undefined;
    progress.phase = stop.aborted ? 'stopped' : failure === undefined ? 'done' : 'error';
  }
  if (failure !== undefined && !stop.aborted) throw new MigrationError(failure);
}

async function withRedisSession<T>(
  endpoint: RedisSource,
  deps: EngineDependencies,
  signal: AbortSignal,
  task: (session: RedisSession) => Promise<T>,
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
  { source, target, managedServers = [] }: RedisMigrationJob,
  deps: EngineDependencies,
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
 * Checks whether source and target are the same server, which spec.md §4.6 forbids. The target must be empty, because a
 * new replica first deletes all its keys.
 */
function assertRedisCompatible(source: RedisInfo, target: RedisInfo, databases: number): void {
  if (source.get('run_id') !== undefined && source.get('run_id') === target.get('run_id')) {
    throw new MigrationError('source and target are the same server');
  }
  const [sourceInfo, targetInfo] = [parseServerVersion(source), parseServerVersion(target)];
  if (sourceInfo !== undefined && targetInfo !== undefined && isNewer(sourceInfo.redis, targetInfo.redis)) {
    throw new MigrationError(
      `the source (${sourceInfo.product} ${sourceInfo.version}) is newer than the target (${targetInfo.version})`,
    );
  }
  const keyCount = parseKeyspace(target).reduce((sum, one) => sum + one.keys, 0);
  if (keyCount > 0)
    throw new MigrationError(`the target is not empty: it contains ${keyCount} keys, which a replica would delete`);
  const outOfRange = parseKeyspace(source).find(({ index }) => index >= databases);
  if (outOfRange !== undefined) {
    // The target must have enough databases, because Redis exits when it loads a snapshot with a database number that
    // is out of range.
    throw new MigrationError(
      `the source has keys in database ${outOfRange.index}, and the target has ${databases} (setting: databases)`,
    );
  }
}

function isNewer(one: string, other: string): boolean {
  const [[major = 0, minor = 0], [otherMajor = 0, otherMinor = 0]] = [versionNumbers(one), versionNumbers(other)];
  return major > otherMajor || (major === otherMajor && minor > otherMinor);
}

function versionNumbers(version: string): readonly number[] {
  return version.split('.').map(Number);
}

async function startReplication(
  { source, target }: RedisMigrationJob,
  deps: EngineDependencies,
  signal: AbortSignal,
): Promise<void> {
  await withRedisSession(target, deps, signal, async (session) => {
    await writeReplicaSettings(session, replicaSettingsFor(source), await readReplicaSettings(session));
    await startReplicaOf(session, source);
  });
}

interface ReplicationContext {
  readonly source: ReconnectingSession<RedisSession>;
  readonly target: ReconnectingSession<RedisSession>;
  readonly job: RedisMigrationJob;
  readonly deps: EngineDependencies;
  readonly migrationProgress: MigrationProgress;
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
  let previous: RedisReplicationStatus | undefined;
  let idleSince: number | undefined;
  let idlePolls = 0;
  try {
    while (!stop.aborted) {
      const sourceInfo = await source.run(readServerInfo);
      const targetInfo = await target.run(readServerInfo);
      const describe = (error: unknown) => redactedReason(error, job.source.password, job.target.password);
      if (sourceInfo === undefined) {
        const reason = `could not reach the source: ${describe(source.outage())}`;
        recordOutageOfDatabases(migrationProgress, 'source_unreachable', reason);
        idleSince = undefined;
      } else if (targetInfo === undefined) {
        const reason = `could not reach the target: ${describe(target.outage())}`;
        recordOutageOfDatabases(migrationProgress, 'target_unreachable', reason);
        idleSince = undefined;
      }
      if (sourceInfo !== undefined && targetInfo !== undefined) {
        const status = readReplicationStatus(sourceInfo, targetInfo);
        updateProgress(migrationProgress, status);
        downSince = status.isUp || status.isCopying ? undefined : (downSince ?? performance.now());
        if (downSince !== undefined && performance.now() - downSince > limits.outageTimeout) {
          throw new MigrationError(linkDown);
        }
        hasBeenUp ||= status.isUp;
        // A replication link that was never up may still be connecting.
        const isDown =
          downSince !== undefined && (hasBeenUp || performance.now() - downSince > 10 * limits.pollInterval);
        if (isDown) recordOutageOfDatabases(migrationProgress, 'link_down', linkDown);
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
