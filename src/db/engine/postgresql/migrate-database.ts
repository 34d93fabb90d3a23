import type { PostgresqlEndpoint } from '../../../postgresql/endpoint.ts';
import { PostgresqlQueryError } from '../../../postgresql/query-error.ts';
import type {
  DatabaseMigrationProgress,
  MigrationLeftoverObject,
  MigrationTransferMethod,
} from '../engine-migration-state.ts';
import { isStoppedByProcessInterruption } from '../migration-engine-input.ts';
import { redactErrorReason } from '../migration-error.ts';
import type { PostgresMigrationCleanupEntry } from '../migration-journal.ts';
import { copyDatabaseRows } from './copy-database-rows.ts';
import { type DatabaseCreationProperties, listFirstUserTables } from './database-creation-properties.ts';
import { withEngineDatabaseSession } from './engine-session.ts';
import type { PostgresMigrationEngineContext } from './migration-context.ts';
import { monitorPostgresqlReplication } from './monitor-database-replication.ts';
import { copyNonReplicatedData } from './non-replicated-data.ts';
import {
  copyDatabaseSchema,
  createDeferredEventTriggersAndPublications,
  prepareTargetDatabase,
  prepareTargetMigrationRole,
} from './prepare-target.ts';
import { removeReplicationObjects, restoreTargetDatabaseOwner } from './remove-replication-objects.ts';
import { migrationEngineApplicationName, replicationObjectName } from './replication-object-names.ts';
import { createPublicationAndSlot, createSubscription } from './replication-objects.ts';

/**
 * Migrates one database, and then removes its replication objects. Never rejects: the outcome of the migration is in
 * `progress`.
 */
export async function migratePostgresqlDatabase(
  run: PostgresMigrationEngineContext,
  database: DatabaseCreationProperties,
  progress: DatabaseMigrationProgress,
): Promise<void> {
  const { job, deps, stop } = run;
  const endpoints = {
    source: { ...job.source, dbname: database.name },
    target: { ...job.target, dbname: database.name },
  };
  const name = replicationObjectName(job.id, database.oid);
  let entry: PostgresMigrationCleanupEntry = {
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
      const former = await prepareTargetDatabase(run, database, endpoints.target, progress);
      if (former !== undefined) entry = { ...entry, former };
      stop.throwIfAborted();
      removal.begin(entry);
      progress.targetLogin = await prepareTargetMigrationRole(run, entry);
      lastObjects = await copyDatabaseSchema(run, entry, progress);
      stop.throwIfAborted();
      progress.phase = 'connecting';
      removal.expectReplication();
      const method = await startReplication(run, entry, progress);
      progress.method = method;
      if (method === 'dump') {
        await removal.removeReplication();
        const target = progress.targetLogin;
        await copyDatabaseRows({ ...endpoints, target, deps, signal: stop, name }, progress);
      }
      return method;
    });
    if (method === 'continuous') {
      await monitorPostgresqlReplication(
        { entry, targetVersion: run.target.version, poller: run.poller, deps, signal: run.end },
        progress,
      );
      if (progress.isCopied && !isStoppedByProcessInterruption(stop)) await finalizeDatabase(run, entry, progress);
    }
  } catch (error) {
    failure = redactErrorReason(error, job.source.password, job.target.password);
  }
  await removal.finish();
  if (failure === undefined && !isStoppedByProcessInterruption(stop))
    await createDeferredEventTriggersAndPublications(run, entry, lastObjects, progress);
  progress.reason = undefined;
  progress.error = stop.aborted ? undefined : failure;
  progress.phase = progress.error !== undefined ? 'error' : stop.aborted ? 'stopped' : 'done';
}

async function hasSourceTables(
  { deps, stop }: PostgresMigrationEngineContext,
  source: PostgresqlEndpoint,
): Promise<boolean> {
  const options = { name: migrationEngineApplicationName, signal: stop };
  return (await withEngineDatabaseSession(source, deps, options, listFirstUserTables)).length > 0;
}

/** Chooses the method dump only if the source refuses replication with insufficient_privilege (42501). */
async function startReplication(
  { job, deps, source, subscribeMutex, stop }: PostgresMigrationEngineContext,
  entry: PostgresMigrationCleanupEntry,
  progress: DatabaseMigrationProgress,
): Promise<MigrationTransferMethod> {
  if (job.method === 'dump') return 'dump';
  const options = { name: entry.name, signal: stop };
  try {
    await withEngineDatabaseSession(entry.source, deps, options, (session) =>
      createPublicationAndSlot(session, entry.name, source.version),
    );
  } catch (error) {
    if (!(error instanceof PostgresqlQueryError) || error.code !== '42501') throw error;
    progress.warnings.push(
      `copied by dump, because the source does not allow replication: ${redactErrorReason(error, entry.source.password)}`,
    );
    return 'dump';
  }
  await subscribeMutex(() =>
    withEngineDatabaseSession(entry.target, deps, options, (session) =>
      createSubscription(session, entry.name, entry.source, entry.former === undefined ? undefined : entry.name),
    ),
  );
  return 'continuous';
}

/** Copies the data that replication does not transfer, after all changes have been replicated. */
async function finalizeDatabase(
  { deps }: PostgresMigrationEngineContext,
  { source, target }: PostgresMigrationCleanupEntry,
  progress: DatabaseMigrationProgress,
): Promise<void> {
  progress.phase = 'finishing';
  const options = { name: migrationEngineApplicationName };
  try {
    const warnings = await withEngineDatabaseSession(source, deps, options, (from) =>
      withEngineDatabaseSession(progress.targetLogin ?? target, deps, options, (to) => copyNonReplicatedData(from, to)),
    );
    progress.warnings.push(...warnings);
  } catch (error) {
    progress.warnings.push(
      `could not copy sequences, materialized views and large objects: ${redactErrorReason(error, source.password, target.password)}`,
    );
  }
}

/** Removes the objects that the migration of one database created, and then its entry in the journal. */
function createRemoval({ deps, leftovers }: PostgresMigrationEngineContext) {
  let pending: PostgresMigrationCleanupEntry | undefined;
  let left: readonly MigrationLeftoverObject[] = [];
  let isReplicating = false;
  const removeReplication = async () => {
    if (pending === undefined || !isReplicating) return;
    isReplicating = false;
    left = await removeReplicationObjects(pending, deps);
    leftovers.push(...left);
  };
  return {
    begin(entry: PostgresMigrationCleanupEntry) {
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
      const kept = await restoreTargetDatabaseOwner(pending, deps);
      leftovers.push(...kept);
      if (left.length + kept.length === 0) deps.journal.recordRemoved(pending.name);
    },
  };
}
