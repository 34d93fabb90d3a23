import type { ProcessEnvironment } from '../../platform/host.ts';
import type { PostgresqlEndpoint } from '../../postgresql/endpoint.ts';
import { redactReason } from './error.ts';
import { defaultLimits, type EngineInput, type EngineSystem, engineSystem, type StopReason } from './input.ts';
import { memoryJournal, openEngineJournal } from './journal.ts';
import { type DataPlane, probePlane } from './plane.ts';
import { migratePostgres } from './postgresql/migrate.ts';
import { removeObjects, restoreOwner } from './postgresql/objects.ts';
import { migrateRedis } from './redis/migrate.ts';
import { detachTarget } from './redis/replica.ts';
import { parsePostgresSource, parseRedisSource, type RequestedSource } from './request.ts';
import { schemaCopier } from './schema/copy.ts';
import { type EngineState, emptyProgress, type Leftover, type Progress, snapshotProgress } from './state.ts';

interface MigrationEngineOptions {
  /** Path of the journal file; absent: created objects are remembered only until the process ends. */
  readonly journal?: string;
  /** Returns milliseconds of the virtual clock of the sandbox. */
  readonly now: () => number;
  /** Environment variables with which pg_dump is found; absent: pg_dump is not used. */
  readonly env?: ProcessEnvironment;
  readonly ports?: Partial<EngineSystem>;
}

interface MigrationEngineStartOptions {
  readonly id: string;
  readonly dataPlane: DataPlane;
  readonly source: RequestedSource;
  readonly ignoreDbs: readonly string[];
  readonly deadline: number;
  readonly finishWhenIdle: boolean;
  /**
   * Whether to create PostgreSQL objects that only a superuser can create; absent: a schema with such objects is not copied.
   */
  readonly allowSuperuserObjects?: boolean | undefined;
  /** A promise, such as the end of an earlier migration, that must settle before the migration starts. */
  readonly startAfter?: Promise<unknown> | undefined;
}

/** Starts migrations between real servers, for callers without knowledge of PostgreSQL or Redis. */
export interface MigrationEngine {
  openDataPlane(url: string): Promise<DataPlane>;
  /** Returns an error message if the migration request is not valid. */
  start(order: MigrationEngineStartOptions): EngineRun | string;
  /**
   * Removes the objects that earlier processes created and did not remove. Resolves with the objects that could not be
   * removed.
   */
  cleanUp(): Promise<readonly Leftover[]>;
  /** Stops every migration and waits until the objects of all migrations are removed. */
  close(): Promise<void>;
}

export function createEngine({
  journal: path,
  now,
  env = {},
  ports: replaced,
}: MigrationEngineOptions): MigrationEngine {
  const file = path === undefined ? undefined : openEngineJournal(path);
  const deps = engineSystem({
    now,
    journal: file ?? memoryJournal(),
    schemaCopy: schemaCopier({ env }),
    ...replaced,
  });
  const planes: DataPlane[] = [];
  const running = new Set<EngineRun>();
  const startJob = (job: EngineInput, after: Promise<unknown> | undefined): EngineRun => {
    const migration = startRun(job, deps, after);
    running.add(migration);
    void migration.ended.then(() => running.delete(migration));
    return migration;
  };
  return {
    async openDataPlane(url) {
      const plane = await probePlane(url, deps);
      planes.push(plane);
      return plane;
    },
    start({ dataPlane, source: requested, startAfter, ...order }) {
      if (dataPlane.engine === 'postgresql') {
        const read = parsePostgresSource(requested);
        if (!read.ok) return read.message;
        const managedServers = planes.flatMap((one) => (one.engine === 'postgresql' ? [one.endpoint] : []));
        const job = { ...order, engine: 'postgresql', source: read.source, target: dataPlane.endpoint } as const;
        return startJob({ ...job, managedServers }, startAfter);
      }
      const read = parseRedisSource(requested);
      if (!read.ok) return read.message;
      const managedServers = planes.flatMap((one) => (one.engine === 'redis' ? [one.endpoint] : []));
      const job = { ...order, engine: 'redis', source: read.source, target: dataPlane.endpoint } as const;
      return startJob({ ...job, managedServers }, startAfter);
    },
    cleanUp: () =>
      cleanUpFromJournal({
        ...deps,
        limits: { ...deps.limits, removalTimeout: Math.min(deps.limits.removalTimeout, startupRemovalTimeout) },
      }),
    async close() {
      await Promise.all([...running].map((migration) => migration.stop('interrupted')));
      file?.close();
    },
  };
}

/**
 * The removal of old objects has a time limit, because a source that no longer exists must not delay the start; the
 * next start tries again.
 */
const startupRemovalTimeout = Math.min(defaultLimits.removalTimeout, 5000);

export interface EngineRun {
  state(): EngineState;
  /**
   * Ends the migration, removes what it created on source and target, and keeps the data. Resolves with the objects
   * that could not be removed.
   */
  stop(reason?: StopReason): Promise<readonly Leftover[]>;
  /** The login that writes to a target database at present. */
  targetLogin(database: string): PostgresqlEndpoint | undefined;
  /** Resolves with the way in which the migration ended; never rejects. */
  readonly ended: Promise<EngineState>;
}

/**
 * Starts a migration, and returns before the first connection.
 * @param after a promise that must settle before the first connection
 */
export function startRun(job: EngineInput, deps: EngineSystem, after?: Promise<unknown>): EngineRun {
  const progress = emptyProgress();
  const stopping = new AbortController();
  const stop = (reason: StopReason) => {
    if (progress.isOver || stopping.signal.aborted) return;
    progress.stopReason = reason;
    stopping.abort(new DOMException(reason, 'AbortError'));
  };
  const ended = runJob(job, deps, { progress, stop: stopping.signal, after }).then(() => snapshotProgress(progress));
  const over = new AbortController();
  void ended.then(() => over.abort());
  void enforceDeadline(job, deps, over.signal, stop);
  return {
    state: () => snapshotProgress(progress),
    async stop(reason = 'stopped_by_user') {
      stop(reason);
      return (await ended).leftovers;
    },
    targetLogin: (database) => progress.databases.find(({ name }) => name === database)?.targetLogin,
    ended,
  };
}

interface RunParams {
  readonly progress: Progress;
  readonly stop: AbortSignal;
  readonly after: Promise<unknown> | undefined;
}

async function runJob(job: EngineInput, deps: EngineSystem, { progress, stop, after }: RunParams): Promise<void> {
  await after?.catch(() => {});
  try {
    stop.throwIfAborted();
    await (job.engine === 'postgresql'
      ? migratePostgres(job, deps, progress, stop)
      : migrateRedis(job, deps, progress, stop));
  } catch (error) {
    if (!stop.aborted) progress.failure = redactReason(error, job.source.password, job.target.password);
  }
  progress.isOver = true;
}

/**
 * Stops the migration at its deadline (docs/service.md S9.8). The virtual clock is read in every interval, because it may jump.
 */
async function enforceDeadline(
  job: EngineInput,
  deps: EngineSystem,
  over: AbortSignal,
  stop: (reason: StopReason) => void,
): Promise<void> {
  while (!over.aborted) {
    if (deps.now() >= job.deadline) return stop('max_duration');
    await deps.sleep(deps.limits.pollInterval, over).catch(() => {});
  }
  return undefined;
}

/**
 * Removes the objects that an earlier process recorded in its journal and did not remove.
 * @returns the objects that could not be removed; they stay in the journal for the next start
 */
export async function cleanUpFromJournal(deps: EngineSystem): Promise<readonly Leftover[]> {
  const all = deps.journal.pending().map(async (entry) => {
    const left =
      entry.engine === 'postgresql'
        ? [...(await removeObjects(entry, deps)), ...(await restoreOwner(entry, deps))]
        : await detachTarget(entry, deps);
    if (left.length === 0) deps.journal.recordRemoved(entry.name);
    return left;
  });
  return (await Promise.all(all)).flat();
}
