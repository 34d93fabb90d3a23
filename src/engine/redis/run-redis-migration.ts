import { ConnectError } from '../../platform/connect-error.ts';
import { CommandError } from '../../redis/command-error.ts';
import type { RedisSession } from '../../redis/connection.ts';
import { parseKeyspace, type RedisInfo } from '../../redis/info.ts';
import type { RedisSource } from '../../redis/source.ts';
import { parseServerVersion } from '../../redis/version.ts';
import { type HeldSession, holdSession } from '../held-session.ts';
import { MigrationError, redactedReason } from '../migration-error.ts';
import type { EngineDependencies, RedisMigrationJob } from '../migration-job.ts';
import type { RedisJournalEntry } from '../migration-journal.ts';
import type { MigrationProgress } from '../migration-progress.ts';
import { createDatabaseProgress } from '../migration-state.ts';
import { detachTarget } from './detach-target.ts';
import { type RedisReplicationStatus, readReplicationStatus } from './redis-replication-status.ts';
import {
  readDatabaseLimit,
  readReplicaSettings,
  readServerInfo,
  replicaSettingsFor,
  startReplicaOf,
  writeReplicaSettings,
} from './replica.ts';

/** The target becomes a replica of the source, with all its databases, until it is stopped. */
export async function runRedisMigration(
  job: RedisMigrationJob,
  ports: EngineDependencies,
  board: MigrationProgress,
  stop: AbortSignal,
): Promise<void> {
  const source = holdRedisSession(job.source, ports, stop);
  const target = holdRedisSession(job.target, ports, stop);
  let entry: RedisJournalEntry | undefined;
  let failure: string | undefined;
  try {
    const settings = await prepareTarget(job, ports, stop);
    entry = { engine: 'redis', name: `redis ${job.id}`, source: job.source, target: job.target, settings };
    ports.journal.recordIntent(entry);
    await startReplication(job, ports, stop);
    await replicateUntilStopped({ source, target, job, ports, board, stop });
  } catch (error) {
    failure = redactedReason(error, job.source.password, job.target.password);
  }
  await Promise.all([source.close(), target.close()]);
  if (entry !== undefined) {
    const left = await detachTarget(entry, ports);
    board.leftovers.push(...left);
    if (left.length === 0) ports.journal.recordRemoved(entry.name);
  }
  for (const progress of board.databases) {
    progress.phase = stop.aborted ? 'stopped' : failure === undefined ? 'done' : 'error';
  }
  if (failure !== undefined && !stop.aborted) throw new MigrationError(failure);
}

async function withRedisSession<T>(
  door: RedisSource,
  ports: EngineDependencies,
  signal: AbortSignal,
  work: (session: RedisSession) => Promise<T>,
): Promise<T> {
  const session = await ports.connectRedis(door, { limit: ports.limits.connectTimeout, signal });
  try {
    return await work(session);
  } finally {
    session.end();
  }
}

/** Nothing is changed yet. Returns the settings of the target that will be. */
async function prepareTarget({ source, target }: RedisMigrationJob, ports: EngineDependencies, signal: AbortSignal) {
  const from = await withRedisSession(source, ports, signal, readServerInfo);
  return withRedisSession(target, ports, signal, async (session) => {
    assertRedisCompatible(from, await readServerInfo(session), await readDatabaseLimit(session));
    return readReplicaSettings(session);
  });
}

/** spec §4.6; and what a replica does first is to forget all it has. */
function assertRedisCompatible(source: RedisInfo, target: RedisInfo, databases: number): void {
  if (source.get('run_id') !== undefined && source.get('run_id') === target.get('run_id')) {
    throw new MigrationError('source and target are the same server');
  }
  const [from, to] = [parseServerVersion(source), parseServerVersion(target)];
  if (from !== undefined && to !== undefined && isNewer(from.redis, to.redis)) {
    throw new MigrationError(`the source is ${from.product} ${from.version}, newer than the target's ${to.version}`);
  }
  const keys = parseKeyspace(target).reduce((sum, one) => sum + one.keys, 0);
  if (keys > 0)
    throw new MigrationError(`the target is not empty: it holds ${keys} keys, and following a source loses them`);
  const beyond = parseKeyspace(source).find(({ index }) => index >= databases);
  if (beyond !== undefined) {
    // A server that loads such a copy exits.
    throw new MigrationError(
      `the source holds keys in database ${beyond.index}, and the target has ${databases} (its setting databases)`,
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
  ports: EngineDependencies,
  signal: AbortSignal,
): Promise<void> {
  await withRedisSession(target, ports, signal, async (session) => {
    await writeReplicaSettings(session, replicaSettingsFor(source), await readReplicaSettings(session));
    await startReplicaOf(session, source);
  });
}

interface ReplicationContext {
  readonly source: HeldSession<RedisSession>;
  readonly target: HeldSession<RedisSession>;
  readonly job: RedisMigrationJob;
  readonly ports: EngineDependencies;
  readonly board: MigrationProgress;
  readonly stop: AbortSignal;
}

/** Resolves when it is stopped, or has nothing left to replicate; rejects when it cannot go on. */
async function replicateUntilStopped({ source, target, job, ports, board, stop }: ReplicationContext): Promise<void> {
  const { now, limits: waits, sleep } = ports;
  let downSince: number | undefined;
  let before: RedisReplicationStatus | undefined;
  let idleSince: number | undefined;
  let idleLooks = 0;
  try {
    while (!stop.aborted) {
      const from = await source.run(readServerInfo);
      const to = await target.run(readServerInfo);
      if (from !== undefined && to !== undefined) {
        const seen = readReplicationStatus(from, to);
        updateProgress(board, seen);
        downSince = seen.isUp || seen.isCopying ? undefined : (downSince ?? performance.now());
        if (downSince !== undefined && performance.now() - downSince > waits.outageTimeout) {
          throw new MigrationError(
            'the target cannot follow the source: its link is down; the log of the target says why',
          );
        }
        // Pings go through the same stream as writes, so that it is never still: what counts is the look before.
        const isQuiet =
          seen.isUp && before !== undefined && seen.taken >= before.written && seen.writes === before.writes;
        before = seen;
        idleSince = isQuiet ? (idleSince ?? now()) : undefined;
        idleLooks = idleSince !== undefined && now() - idleSince >= waits.idleTime ? idleLooks + 1 : 0;
        if (job.finishWhenIdle && idleLooks >= 2) return;
      }
      await sleep(waits.pollInterval, stop);
    }
  } catch (error) {
    if (!stop.aborted) throw error;
  }
}

function updateProgress(board: MigrationProgress, { isUp, lagBytes, databases }: RedisReplicationStatus): void {
  for (const { name, keys } of databases) {
    let progress = board.databases.find((one) => one.name === name);
    if (progress === undefined) {
      progress = createDatabaseProgress(name);
      progress.method = 'continuous';
      board.databases.push(progress);
    }
    progress.tables = [keys];
    progress.lagBytes = lagBytes;
    progress.phase = isUp ? 'streaming' : 'copying';
  }
}

function holdRedisSession(
  door: RedisSource,
  ports: EngineDependencies,
  signal: AbortSignal,
): HeldSession<RedisSession> {
  return holdSession({
    open: () => ports.connectRedis(door, { limit: ports.limits.connectTimeout, signal }),
    close: (session) => session.end(),
    isTransient: (error) =>
      error instanceof ConnectError
        ? error.phase === 'network' || error.code === 'LOADING'
        : error instanceof CommandError && error.lost,
    outageTimeout: ports.limits.outageTimeout,
  });
}
