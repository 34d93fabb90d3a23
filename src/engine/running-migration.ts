import type { PostgresqlSource } from '../postgresql/source.ts';
import { redactErrorReason } from './migration-error.ts';
import type { MigrationEngineDependencies, MigrationJob, MigrationStopReason } from './migration-job.ts';
import { createEmptyMigrationProgress, type MigrationProgress, toMigrationState } from './migration-progress.ts';
import type { MigrationLeftoverObject, MigrationState } from './migration-state.ts';
import { runPostgresMigration } from './postgresql/run-postgres-migration.ts';
import { runRedisMigration } from './redis/run-redis-migration.ts';

export interface RunningMigration {
  state(): MigrationState;
  /**
   * Ends the migration, removes what it created on source and target, and keeps the data. Resolves with the objects
   * that could not be removed.
   */
  stop(reason?: MigrationStopReason): Promise<readonly MigrationLeftoverObject[]>;
  /** The login that writes to a target database at present. */
  targetLogin(database: string): PostgresqlSource | undefined;
  /** Resolves with the way in which the migration ended; never rejects. */
  readonly ended: Promise<MigrationState>;
}

/**
 * Starts a migration, and returns before the first connection.
 * @param after a promise that must settle before the first connection
 */
export function startMigrationBetweenServers(
  job: MigrationJob,
  deps: MigrationEngineDependencies,
  after?: Promise<unknown>,
): RunningMigration {
  const progress = createEmptyMigrationProgress();
  const stopping = new AbortController();
  const stop = (reason: MigrationStopReason) => {
    if (progress.isOver || stopping.signal.aborted) return;
    progress.stopReason = reason;
    stopping.abort(new DOMException(reason, 'AbortError'));
  };
  const ended = runJob(job, deps, { progress, stop: stopping.signal, after }).then(() => toMigrationState(progress));
  const over = new AbortController();
  void ended.then(() => over.abort());
  void enforceDeadline(job, deps, over.signal, stop);
  return {
    state: () => toMigrationState(progress),
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
  job: MigrationJob,
  deps: MigrationEngineDependencies,
  { progress, stop, after }: RunParams,
): Promise<void> {
  await after?.catch(() => {});
  try {
    stop.throwIfAborted();
    await (job.engine === 'postgresql'
      ? runPostgresMigration(job, deps, progress, stop)
      : runRedisMigration(job, deps, progress, stop));
  } catch (error) {
    if (!stop.aborted) progress.failure = redactErrorReason(error, job.source.password, job.target.password);
  }
  progress.isOver = true;
}

/**
 * Stops the migration at its deadline (spec.md §8). The virtual clock is read in every interval, because it may jump.
 */
async function enforceDeadline(
  job: MigrationJob,
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
