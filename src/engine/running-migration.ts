import type { PostgresqlSource } from '../postgresql/source.ts';
import { redactedReason } from './migration-error.ts';
import type { EngineDependencies, MigrationJob, StopReason } from './migration-job.ts';
import { createMigrationProgress, type MigrationProgress, toMigrationState } from './migration-progress.ts';
import type { LeftoverObject, MigrationState } from './migration-state.ts';
import { runPostgresMigration } from './postgresql/run-postgres-migration.ts';
import { runRedisMigration } from './redis/run-redis-migration.ts';

export interface RunningMigration {
  state(): MigrationState;
  /** Ends it, removes what was made on source and target, keeps the data. Resolves with what could not be removed. */
  stop(reason?: StopReason): Promise<readonly LeftoverObject[]>;
  /** The login that writes to a database of the target at the moment. */
  targetLogin(database: string): PostgresqlSource | undefined;
  /** How it ended; never rejects. */
  readonly ended: Promise<MigrationState>;
}

/**
 * Begins to move a database; nothing has been tried yet when it returns.
 * @param after nothing is tried before it settles
 */
export function startMigrationJob(
  job: MigrationJob,
  deps: EngineDependencies,
  after?: Promise<unknown>,
): RunningMigration {
  const progress = createMigrationProgress();
  const stopping = new AbortController();
  const stop = (reason: StopReason) => {
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
  deps: EngineDependencies,
  { progress, stop, after }: RunParams,
): Promise<void> {
  await after?.catch(() => {});
  try {
    stop.throwIfAborted();
    await (job.engine === 'postgresql'
      ? runPostgresMigration(job, deps, progress, stop)
      : runRedisMigration(job, deps, progress, stop));
  } catch (error) {
    if (!stop.aborted) progress.failure = redactedReason(error, job.source.password, job.target.password);
  }
  progress.isOver = true;
}

/** Stops the migration at its deadline (spec.md §8). The virtual clock may jump, so it is read in every interval. */
async function enforceDeadline(
  job: MigrationJob,
  deps: EngineDependencies,
  over: AbortSignal,
  stop: (reason: StopReason) => void,
): Promise<void> {
  while (!over.aborted) {
    if (deps.now() >= job.deadline) return stop('max_duration');
    await deps.sleep(deps.limits.pollInterval, over).catch(() => {});
  }
  return undefined;
}
