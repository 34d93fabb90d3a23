import type { RedisConnection } from '../../../redis/connection.ts';
import type { RedisEndpoint } from '../../../redis/endpoint.ts';
import { parseKeyspace, type RedisInfo } from '../../../redis/info.ts';
import { parseRedisServerVersion } from '../../../redis/version.ts';
import type { MigrationEngineDependencies, RedisMigrationEngineInput } from '../migration-engine-input.ts';
import { MigrationError, managedClusterSourceMessage, redactErrorReason } from '../migration-error.ts';
import type { RedisMigrationCleanupEntry } from '../migration-journal.ts';
import type { MigrationProgress } from '../migration-progress.ts';
import type { ReconnectingServerSession } from '../reconnecting-server-session.ts';
import { detachRedisTarget } from './detach-target.ts';
import { openReconnectingRedisSession, retryWhileRedisIsBusy } from './reconnecting-redis-session.ts';
import { recordRedisMigrationOutage, updateRedisMigrationProgress } from './redis-progress.ts';
import { buildRedisReplicationStatus, type RedisReplicationStatus } from './redis-replication-status.ts';
import {
  buildRedisReplicaSettings,
  readRedisDatabaseLimit,
  readRedisServerInfo,
  readReplicationSettingsOfRedisReplica,
  startRedisReplication,
  writeRedisReplicaSettings,
} from './replica.ts';

/**
 * Makes the target a replica of the source until the migration is stopped or, with `finishWhenIdle`, has had nothing to
 * replicate for `idleTime`.
 */
export async function migrateRedisDatabases(
  job: RedisMigrationEngineInput,
  deps: MigrationEngineDependencies,
  migrationProgress: MigrationProgress,
  stop: AbortSignal,
): Promise<void> {
  const source = openReconnectingRedisSession(job.source, deps, stop);
  const target = openReconnectingRedisSession(job.target, deps, stop);
  let entry: RedisMigrationCleanupEntry | undefined;
  let failure: string | undefined;
  const showBusy = (error: unknown) => {
    const reason = `a server is busy: ${redactErrorReason(error, job.source.password, job.target.password)}`;
    recordRedisMigrationOutage(migrationProgress, 'server_busy', reason);
  };
  try {
    const settings = await retryWhileRedisIsBusy(() => prepareTarget(job, deps, stop), deps, stop, showBusy);
    entry = { engine: 'redis', name: `redis ${job.id}`, source: job.source, target: job.target, settings };
    deps.journal.recordIntent(entry);
    await retryWhileRedisIsBusy(() => startReplication(job, deps, stop), deps, stop, showBusy);
    await replicateUntilStopped({ source, target, job, deps, migrationProgress, stop });
  } catch (error) {
    failure = redactErrorReason(error, job.source.password, job.target.password);
  }
  await Promise.all([source.close(), target.close()]);
  if (entry !== undefined) {
    const left = await detachRedisTarget(entry, deps);
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
  deps: MigrationEngineDependencies,
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
  { source, target, managedServers = [] }: RedisMigrationEngineInput,
  deps: MigrationEngineDependencies,
  signal: AbortSignal,
) {
  const sourceInfo = await withRedisSession(source, deps, signal, readRedisServerInfo);
  const run = sourceInfo.get('run_id');
  for (const server of managedServers.filter((one) => one !== target)) {
    const info = await withRedisSession(server, deps, signal, readRedisServerInfo).catch(() => undefined);
    if (run !== undefined && info?.get('run_id') === run) throw new MigrationError(managedClusterSourceMessage);
  }
  return withRedisSession(target, deps, signal, async (session) => {
    assertRedisCompatible(sourceInfo, await readRedisServerInfo(session), await readRedisDatabaseLimit(session));
    return readReplicationSettingsOfRedisReplica(session);
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
  const [sourceInfo, targetInfo] = [parseRedisServerVersion(source), parseRedisServerVersion(target)];
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
  { source, target }: RedisMigrationEngineInput,
  deps: MigrationEngineDependencies,
  signal: AbortSignal,
): Promise<void> {
  await withRedisSession(target, deps, signal, async (session) => {
    await writeRedisReplicaSettings(
      session,
      buildRedisReplicaSettings(source),
      await readReplicationSettingsOfRedisReplica(session),
    );
    await startRedisReplication(session, source);
  });
}

interface ReplicationContext {
  readonly source: ReconnectingServerSession<RedisConnection>;
  readonly target: ReconnectingServerSession<RedisConnection>;
  readonly job: RedisMigrationEngineInput;
  readonly deps: MigrationEngineDependencies;
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
      const sourceInfo = await source.run(readRedisServerInfo);
      const targetInfo = await target.run(readRedisServerInfo);
      const describe = (error: unknown) => redactErrorReason(error, job.source.password, job.target.password);
      if (sourceInfo === undefined) {
        const reason = `could not reach the source: ${describe(source.outage())}`;
        recordRedisMigrationOutage(migrationProgress, 'source_unreachable', reason);
        idleSince = undefined;
      } else if (targetInfo === undefined) {
        const reason = `could not reach the target: ${describe(target.outage())}`;
        recordRedisMigrationOutage(migrationProgress, 'target_unreachable', reason);
        idleSince = undefined;
      }
      if (sourceInfo !== undefined && targetInfo !== undefined) {
        const status = buildRedisReplicationStatus(sourceInfo, targetInfo);
        updateRedisMigrationProgress(migrationProgress, status);
        downSince = status.isUp || status.isCopying ? undefined : (downSince ?? performance.now());
        if (downSince !== undefined && performance.now() - downSince > limits.outageTimeout) {
          throw new MigrationError(linkDown);
        }
        hasBeenUp ||= status.isUp;
        // A replication link that was never up may still be connecting, so it counts as down only after ten poll intervals.
        const isDown =
          downSince !== undefined && (hasBeenUp || performance.now() - downSince > 10 * limits.pollInterval);
        if (isDown) recordRedisMigrationOutage(migrationProgress, 'link_down', linkDown);
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
