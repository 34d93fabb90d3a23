import type { PostgresqlEndpoint } from '../../../postgresql/endpoint.ts';
import { QueryError } from '../../../postgresql/query-error.ts';
import { MigrationError, managedSourceMessage, redactReason } from '../error.ts';
import { type EngineSystem, isInterrupted, type PostgresInput } from '../input.ts';
import type { PostgresEntry } from '../journal.ts';
import {
  type DatabaseProgress,
  initialDatabase,
  isEnded,
  type Leftover,
  type Progress,
  type TransferMethod,
} from '../state.ts';
import { createSemaphore, createSlotPoller, type RunContext } from './context.ts';
import { type DatabaseDefinition, firstTables, listSourceDatabases } from './databases.ts';
import { readIdentity, requireMigratable, type ServerIdentity } from './identity.ts';
import { isIdle, monitorReplication } from './monitor.ts';
import { engineName, replicationName } from './names.ts';
import { createPublicationAndSlot, createSubscription, removeObjects, restoreOwner } from './objects.ts';
import { copyRest, copyRows } from './rows.ts';
import { withSession } from './session.ts';
import { copyRoles, copySchema, createLast, prepareDatabase, prepareRole } from './target.ts';

/**
 * Migrates all databases of the source. Rejects if no database could start; the outcome of each database is in
 * `migrationProgress`.
 */
export async function migratePostgres(
  job: PostgresInput,
  deps: EngineSystem,
  migrationProgress: Progress,
  stop: AbortSignal,
): Promise<void> {
  const prepared = await prepareMigration(job, deps, migrationProgress, stop);
  migrationProgress.databases.push(...prepared.databases.map(({ name }) => initialDatabase(name)));
  const idle = new AbortController();
  const end = AbortSignal.any([stop, idle.signal]);
  const poller = createSlotPoller(job.source, prepared.source.version, deps, end);
  const context = {
    ...prepared,
    job,
    deps,
    poller,
    setupSemaphore: createSemaphore(deps.limits.parallelDatabases),
    subscribeMutex: createSemaphore(1),
    stop,
    end,
    leftovers: migrationProgress.leftovers,
  };
  const all = Promise.all(
    prepared.databases.map((database, at) =>
      migratePostgresqlDatabase(context, database, migrationProgress.databases[at]!),
    ),
  );
  if (job.finishWhenIdle) void stopWhenIdle(migrationProgress, deps, idle, all);
  await all;
  await poller.close();
}

interface PreparedMigration {
  readonly source: ServerIdentity;
  readonly target: ServerIdentity;
  readonly databases: readonly DatabaseDefinition[];
}

async function prepareMigration(
  job: PostgresInput,
  deps: EngineSystem,
  migrationProgress: Progress,
  signal: AbortSignal,
): Promise<PreparedMigration> {
  const opening = { name: engineName, signal };
  return withSession(job.source, deps, opening, (from) =>
    withSession(job.target, deps, opening, async (to) => {
      const [source, target] = [await readIdentity(from), await readIdentity(to)];
      requireMigratable(source, target);
      await refuseManagedSource(source, job, deps, signal);
      const databases = await listSourceDatabases(from, job.ignoreDbs);
      if (databases.length === 0)
        throw new MigrationError('no database to migrate: all databases of the source are ignored');
      migrationProgress.warnings.push(...(await copyRoles(from, to, deps.random)));
      return { source, target, databases };
    }),
  );
}

/**
 * A managed cluster cannot be migrated to another managed cluster (docs/service.md S9.12), whatever host name the request uses
 * for it. A managed server that does not respond cannot be the source, because the source responds.
 */
async function refuseManagedSource(
  source: ServerIdentity,
  { managedServers = [] }: PostgresInput,
  deps: EngineSystem,
  signal: AbortSignal,
): Promise<void> {
  const opening = { name: engineName, signal };
  for (const server of managedServers) {
    const one = await withSession(server, deps, opening, readIdentity).catch(() => undefined);
    if (one !== undefined && one.system === source.system && one.startedAt === source.startedAt)
      throw new MigrationError(managedSourceMessage);
  }
}

/**
 * Ends the migration when no running database has anything left to replicate. Failed databases and databases migrated
 * with a dump do not count.
 */
async function stopWhenIdle(
  migrationProgress: Progress,
  deps: EngineSystem,
  idle: AbortController,
  all: Promise<unknown>,
): Promise<void> {
  const finished = new AbortController();
  void all.then(() => finished.abort());
  while (!finished.signal.aborted) {
    const active = migrationProgress.databases.filter((one) => !isEnded(one));
    if (active.length > 0 && active.every(isIdle)) return idle.abort();
    await deps.sleep(deps.limits.pollInterval, finished.signal).catch(() => {});
  }
  return undefined;
}

/**
 * Migrates one database, and then removes its replication objects. Never rejects: the outcome of the migration is in
 * `progress`.
 */
async function migratePostgresqlDatabase(
  run: RunContext,
  database: DatabaseDefinition,
  progress: DatabaseProgress,
): Promise<void> {
  const { job, deps, stop } = run;
  const endpoints = {
    source: { ...job.source, dbname: database.name },
    target: { ...job.target, dbname: database.name },
  };
  const name = replicationName(job.id, database.oid);
  let entry: PostgresEntry = {
    engine: 'postgresql',
    name,
    ...endpoints,
    targetSystem: run.target.system,
  };
  const removal = createRemoval(run);
  let lastObjects: readonly string[] = [];
  let failure: string | undefined;
  try {
    const method = await run.setupSemaphore(async () => {
      stop.throwIfAborted();
      progress.phase = 'schema';
      progress.hasTables = await hasSourceTables(run, endpoints.source);
      const former = await prepareDatabase(run, database, endpoints.target, progress);
      if (former !== undefined) entry = { ...entry, former };
      stop.throwIfAborted();
      removal.begin(entry);
      progress.targetLogin = await prepareRole(run, entry);
      lastObjects = await copySchema(run, entry, progress);
      stop.throwIfAborted();
      progress.phase = 'connecting';
      removal.expectReplication();
      const method = await startReplication(run, entry, progress);
      progress.method = method;
      if (method === 'dump') {
        await removal.removeReplication();
        const target = progress.targetLogin;
        await copyRows({ ...endpoints, target, deps, signal: stop, name }, progress);
      }
      return method;
    });
    if (method === 'continuous') {
      await monitorReplication(
        { entry, targetVersion: run.target.version, poller: run.poller, deps, signal: run.end },
        progress,
      );
      if (progress.isCopied && !isInterrupted(stop)) await finalizeDatabase(run, entry, progress);
    }
  } catch (error) {
    failure = redactReason(error, job.source.password, job.target.password);
  }
  await removal.finish();
  if (failure === undefined && !isInterrupted(stop)) await createLast(run, entry, lastObjects, progress);
  progress.reason = undefined;
  progress.error = stop.aborted ? undefined : failure;
  progress.phase = progress.error !== undefined ? 'error' : stop.aborted ? 'stopped' : 'done';
}

async function hasSourceTables({ deps, stop }: RunContext, source: PostgresqlEndpoint): Promise<boolean> {
  const options = { name: engineName, signal: stop };
  return (await withSession(source, deps, options, firstTables)).length > 0;
}

/** Chooses the method dump only if the source refuses replication with insufficient_privilege (42501). */
async function startReplication(
  { job, deps, source, subscribeMutex, stop }: RunContext,
  entry: PostgresEntry,
  progress: DatabaseProgress,
): Promise<TransferMethod> {
  if (job.method === 'dump') return 'dump';
  const options = { name: entry.name, signal: stop };
  try {
    await withSession(entry.source, deps, options, (session) =>
      createPublicationAndSlot(session, entry.name, source.version),
    );
  } catch (error) {
    if (!(error instanceof QueryError) || error.code !== '42501') throw error;
    progress.warnings.push(
      `copied by dump, because the source does not allow replication: ${redactReason(error, entry.source.password)}`,
    );
    return 'dump';
  }
  await subscribeMutex(() =>
    withSession(entry.target, deps, options, (session) =>
      createSubscription(session, entry.name, entry.source, entry.former === undefined ? undefined : entry.name),
    ),
  );
  return 'continuous';
}

/** Copies the data that replication does not transfer, after all changes have been replicated. */
async function finalizeDatabase(
  { deps }: RunContext,
  { source, target }: PostgresEntry,
  progress: DatabaseProgress,
): Promise<void> {
  progress.phase = 'finishing';
  const options = { name: engineName };
  try {
    const warnings = await withSession(source, deps, options, (from) =>
      withSession(progress.targetLogin ?? target, deps, options, (to) => copyRest(from, to)),
    );
    progress.warnings.push(...warnings);
  } catch (error) {
    progress.warnings.push(
      `could not copy sequences, materialized views and large objects: ${redactReason(error, source.password, target.password)}`,
    );
  }
}

/** Removes the objects that the migration of one database created, and then its entry in the journal. */
function createRemoval({ deps, leftovers }: RunContext) {
  let pending: PostgresEntry | undefined;
  let left: readonly Leftover[] = [];
  let isReplicating = false;
  const removeReplication = async () => {
    if (pending === undefined || !isReplicating) return;
    isReplicating = false;
    left = await removeObjects(pending, deps);
    leftovers.push(...left);
  };
  return {
    begin(entry: PostgresEntry) {
      deps.journal.recordIntent(entry);
      pending = entry;
    },
    /** From this point on, replication objects may exist. */
    expectReplication() {
      isReplicating = true;
    },
    removeReplication,
    async finish() {
      if (pending === undefined) return;
      await removeReplication();
      const kept = await restoreOwner(pending, deps);
      leftovers.push(...kept);
      if (left.length + kept.length === 0) deps.journal.recordRemoved(pending.name);
    },
  };
}
