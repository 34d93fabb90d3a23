import type { PostgresqlEndpoint } from '../../postgresql/endpoint.ts';
import type { EngineMigrationState, MigrationLeftoverObject } from './engine-migration-state.ts';
import type {
  MigrationEngineDependencies,
  MigrationEngineInput,
  MigrationStopReason,
} from './migration-engine-input.ts';
import { redactErrorReason } from './migration-error.ts';
import {
  createEmptyMigrationProgress,
  type MigrationProgress,
  snapshotMigrationProgress,
} from './migration-progress.ts';
import { migratePostgresDatabases } from './postgresql/migrate-postgres-databases.ts';
import { migrateRedisDatabases } from './redis/migrate-redis-databases.ts';

export interface MigrationEngineRun {
  state(): EngineMigrationState;
  /**
   * Ends the migration, removes what it created on source and target, and keeps the data. Resolves with the objects
   * that could not be removed.
   */
  stop(reason?: MigrationStopReason): Promise<readonly MigrationLeftoverObject[]>;
  /** The login that writes to a target database at present. */
  targetLogin(database: string): PostgresqlEndpoint | undefined;
  /** Resolves with the way in which the migration ended; never rejects. */
  readonly ended: Promise<EngineMigrationState>;
}

/**
 * Starts a migration, and returns before the first connection.
 * @param after a promise that must settle before the first connection
 */
export function startEngineMigration(
  job: MigrationEngineInput,
  deps: MigrationEngineDependencies,
  after?: Promise<unknown>,
): MigrationEngineRun {
  const progress = createEmptyMigrationProgress();
  const stopping = new AbortController();
  const stop = (reason: MigrationStopReason) => {
    if (progress.isOver || stopping.signal.aborted) return;
    progress.stopReason = reason;
    stopping.abort(new DOMException(reason, 'AbortError'));
  };
  const ended = runJob(job, deps, { progress, stop: stopping.signal, after }).then(() =>
    snapshotMigrationProgress(progress),
  );
  const over = new AbortController();
  void ended.then(() => over.abort());
  void enforceDeadline(job, deps, over.signal, stop);
  return {
    state: () => snapshotMigrationProgress(progress),
    async stop(reason = 'stopped_by_user') {
      stop(reason);
      return (await ended).leftovers;
    },
    targetLogin: (database) => progress.databases.find(({ name }) => name === database)?.targetLogin,
    ended,
  };
}

interface RunParams {
  readonly progress: MigrationProgress;
  readonly stop: AbortSignal;
  readonly after: Promise<unknown> | undefined;
}

async function runJob(
  job: MigrationEngineInput,
  deps: MigrationEngineDependencies,
  { progress, stop, after }: RunParams,
): Promise<void> {
  await after?.catch(() => {});
  try {
    stop.throwIfAborted();
    await (job.engine === 'postgresql'
      ? migratePostgresDatabases(job, deps, progress, stop)
      : migrateRedisDatabases(job, deps, progress, stop));
  } catch (error) {
    if (!stop.aborted) progress.failure = redactErrorReason(error, job.source.password, job.target.password);
  }
  progress.isOver = true;
}

/**
 * Stops the migration at its deadline (docs/service.md S9.8). The virtual clock is read in every interval, because it may jump.
 */
async function enforceDeadline(
  job: MigrationEngineInput,
  deps: MigrationEngineDependencies,
  over: AbortSignal,
  stop: (reason: MigrationStopReason) => void,
): Promise<void> {
  while (!over.aborted) {
    if (deps.now() >= job.deadline) return stop('max_duration');
    await deps.sleep(deps.limits.pollInterval, over).catch(() => {});
  }
  return undefined;
}
