import { QueryError } from '../../postgresql/query-error.ts';
import { MigrationError, redactedReason } from '../migration-error.ts';
import { type EngineDependencies, isStoppedByInterrupt, type PostgresMigrationJob } from '../migration-job.ts';
import type { PostgresJournalEntry } from '../migration-journal.ts';
import type { DatabaseProgress, LeftoverObject, TransferMethod } from '../migration-state.ts';
import type { Semaphore } from '../semaphore.ts';
import { copyDatabaseRows } from './copy-database-rows.ts';
import { createTargetDatabase, type DatabaseDefinition, listUserTables } from './database-definition.ts';
import { withEngineSession } from './engine-session.ts';
import { copyNonReplicatedData } from './non-replicated-data.ts';
import { engineApplicationName, replicationObjectName } from './object-names.ts';
import { removeReplicationObjects } from './remove-replication-objects.ts';
import { replicateDatabase } from './replicate-database.ts';
import { createPublicationAndSlot, createSubscription } from './replication-objects.ts';
import type { ServerIdentity } from './server-identity.ts';
import type { SourcePoller } from './source-poller.ts';

/** Shared by all databases of one migration. */
export interface PostgresMigrationContext {
  readonly job: PostgresMigrationJob;
  readonly deps: EngineDependencies;
  readonly source: ServerIdentity;
  readonly target: ServerIdentity;
  readonly poller: SourcePoller;
  /** Limits how many databases are set up at the same time. */
  readonly setupSemaphore: Semaphore;
  /** One subscription at a time, so that each check of free workers counts the earlier ones. */
  readonly subscribeMutex: Semaphore;
  /** Aborted when the migration is stopped; databases that are not replicating yet end at once. */
  readonly stop: AbortSignal;
  /** Aborted by `stop`, or when nothing is left to replicate. */
  readonly end: AbortSignal;
  readonly leftovers: LeftoverObject[];
}

/** Migrates one database and removes its replication objects. Never rejects: the outcome is in `progress`. */
export async function migrateDatabase(
  run: PostgresMigrationContext,
  database: DatabaseDefinition,
  progress: DatabaseProgress,
): Promise<void> {
  const { job, deps, stop } = run;
  const endpoints = {
    source: { ...job.source, dbname: database.name },
    target: { ...job.target, dbname: database.name },
  };
  const name = replicationObjectName(job.id, database.oid);
  const entry: PostgresJournalEntry = { engine: 'postgresql', name, ...endpoints, targetSystem: run.target.system };
  let isRemoved = true;
  const remove = async () => {
    if (isRemoved) return;
    const left = await removeReplicationObjects(entry, deps);
    run.leftovers.push(...left);
    if (left.length === 0) deps.journal.recordRemoved(name);
    isRemoved = true;
  };
  let failure: string | undefined;
  try {
    const method = await run.setupSemaphore(async () => {
      stop.throwIfAborted();
      progress.phase = 'schema';
      await copyDatabaseSchema(run, database, endpoints, progress);
      stop.throwIfAborted();
      progress.phase = 'connecting';
      deps.journal.recordIntent(entry);
      isRemoved = false;
      const method = await startReplication(run, entry, progress);
      progress.method = method;
      if (method === 'dump') {
        await remove();
        await copyDatabaseRows({ ...endpoints, deps, signal: stop, name }, progress);
      }
      return method;
    });
    if (method === 'continuous') {
      await replicateDatabase(
        { entry, targetVersion: run.target.version, poller: run.poller, deps, signal: run.end },
        progress,
      );
      if (progress.phase === 'streaming' && !isStoppedByInterrupt(stop)) await finalizeDatabase(run, entry, progress);
    }
  } catch (error) {
    failure = redactedReason(error, job.source.password, job.target.password);
  }
  await remove();
  progress.error = stop.aborted ? undefined : failure;
  progress.phase = progress.error !== undefined ? 'error' : stop.aborted ? 'stopped' : 'done';
}

async function copyDatabaseSchema(
  { job, deps, stop }: PostgresMigrationContext,
  database: DatabaseDefinition,
  endpoints: Pick<PostgresJournalEntry, 'source' | 'target'>,
  progress: DatabaseProgress,
): Promise<void> {
  const options = { name: engineApplicationName, signal: stop };
  progress.warnings.push(
    ...(await withEngineSession(job.target, deps, options, (session) => createTargetDatabase(session, database))),
  );
  const existing = await withEngineSession(endpoints.target, deps, options, listUserTables);
  if (existing.length > 0) {
    throw new MigrationError(
      `the target database is not empty: it contains ${existing.join(', ')}; drop the database on the target and start again`,
    );
  }
  const copied = await deps.schemaCopy(endpoints.source, endpoints.target, stop);
  if (copied.kind === 'refused') {
    throw new MigrationError(`cannot copy the schema: ${copied.objects.join(', ')}`);
  }
  progress.warnings.push(...copied.warnings);
}

/** Chooses the dump only when the source refuses replication with insufficient_privilege (42501). */
async function startReplication(
  { job, deps, source, subscribeMutex, stop }: PostgresMigrationContext,
  entry: PostgresJournalEntry,
  progress: DatabaseProgress,
): Promise<TransferMethod> {
  if (job.method === 'dump') return 'dump';
  const options = { name: entry.name, signal: stop };
  try {
    await withEngineSession(entry.source, deps, options, (session) =>
      createPublicationAndSlot(session, entry.name, source.version),
    );
  } catch (error) {
    if (!(error instanceof QueryError) || error.code !== '42501') throw error;
    progress.warnings.push(
      `copied by dump, because the source does not allow replication: ${redactedReason(error, entry.source.password)}`,
    );
    return 'dump';
  }
  await subscribeMutex(() =>
    withEngineSession(entry.target, deps, options, (session) => createSubscription(session, entry.name, entry.source)),
  );
  return 'continuous';
}

/** Copies what replication does not transfer, after all changes have arrived. */
async function finalizeDatabase(
  { deps }: PostgresMigrationContext,
  { source, target }: PostgresJournalEntry,
  progress: DatabaseProgress,
): Promise<void> {
  progress.phase = 'finishing';
  const options = { name: engineApplicationName };
  try {
    const warnings = await withEngineSession(source, deps, options, (from) =>
      withEngineSession(target, deps, options, (to) => copyNonReplicatedData(from, to)),
    );
    progress.warnings.push(...warnings);
  } catch (error) {
    progress.warnings.push(
      `could not copy sequences, materialized views and large objects: ${redactedReason(error, source.password, target.password)}`,
    );
  }
}
