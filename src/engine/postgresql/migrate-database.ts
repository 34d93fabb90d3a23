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

/** What the databases of one migration share. */
export interface PostgresMigrationContext {
  readonly job: PostgresMigrationJob;
  readonly ports: EngineDependencies;
  readonly source: ServerIdentity;
  readonly target: ServerIdentity;
  readonly tower: SourcePoller;
  /** So many databases are set up at once. */
  readonly setup: Semaphore;
  /** One subscription at a time, so that each sees the workers the others took. */
  readonly subscribing: Semaphore;
  /** Somebody wants it to end: what is not replicating yet is given up. */
  readonly stop: AbortSignal;
  /** The stop, or the end of a migration that has nothing left to replicate. */
  readonly end: AbortSignal;
  readonly leftovers: LeftoverObject[];
}

/** Moves one database. What becomes of it stands in `progress`; it never rejects, and leaves nothing of ours behind. */
export async function migrateDatabase(
  run: PostgresMigrationContext,
  database: DatabaseDefinition,
  progress: DatabaseProgress,
): Promise<void> {
  const { job, ports, stop } = run;
  const doors = {
    source: { ...job.source, dbname: database.name },
    target: { ...job.target, dbname: database.name },
  };
  const name = replicationObjectName(job.id, database.oid);
  const entry: PostgresJournalEntry = { engine: 'postgresql', name, ...doors, targetSystem: run.target.system };
  let isClean = true;
  const remove = async () => {
    if (isClean) return;
    const left = await removeReplicationObjects(entry, ports);
    run.leftovers.push(...left);
    if (left.length === 0) ports.journal.recordRemoved(name);
    isClean = true;
  };
  let failure: string | undefined;
  try {
    const method = await run.setup(async () => {
      stop.throwIfAborted();
      progress.phase = 'schema';
      await copyDatabaseSchema(run, database, doors, progress);
      stop.throwIfAborted();
      progress.phase = 'connecting';
      ports.journal.recordIntent(entry);
      isClean = false;
      const possible = await startReplication(run, entry, progress);
      progress.method = possible;
      if (possible === 'dump') {
        await remove();
        await copyDatabaseRows({ ...doors, ports, signal: stop, name }, progress);
      }
      return possible;
    });
    if (method === 'continuous') {
      await replicateDatabase(
        { entry, targetVersion: run.target.version, tower: run.tower, ports, signal: run.end },
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
  { job, ports, stop }: PostgresMigrationContext,
  database: DatabaseDefinition,
  doors: Pick<PostgresJournalEntry, 'source' | 'target'>,
  progress: DatabaseProgress,
): Promise<void> {
  const opening = { name: engineApplicationName, signal: stop };
  progress.warnings.push(
    ...(await withEngineSession(job.target, ports, opening, (session) => createTargetDatabase(session, database))),
  );
  const taken = await withEngineSession(doors.target, ports, opening, listUserTables);
  if (taken.length > 0) {
    throw new MigrationError(`the database is not empty on the target, which holds ${taken.join(', ')}: drop it there`);
  }
  const copied = await ports.schemaCopy(doors.source, doors.target, stop);
  if (copied.kind === 'refused') {
    throw new MigrationError(`the schema holds what cannot be copied: ${copied.objects.join(', ')}`);
  }
  progress.warnings.push(...copied.warnings);
}

/** Falls back to the dump when the source does not allow replication (insufficient_privilege), and for no other reason. */
async function startReplication(
  { job, ports, source, subscribing, stop }: PostgresMigrationContext,
  entry: PostgresJournalEntry,
  progress: DatabaseProgress,
): Promise<TransferMethod> {
  if (job.method === 'dump') return 'dump';
  const opening = { name: entry.name, signal: stop };
  try {
    await withEngineSession(entry.source, ports, opening, (session) =>
      createPublicationAndSlot(session, entry.name, source.version),
    );
  } catch (error) {
    if (!(error instanceof QueryError) || error.code !== '42501') throw error;
    progress.warnings.push(
      `dumped, because replication is not allowed: ${redactedReason(error, entry.source.password)}`,
    );
    return 'dump';
  }
  await subscribing(() =>
    withEngineSession(entry.target, ports, opening, (session) => createSubscription(session, entry.name, entry.source)),
  );
  return 'continuous';
}

/** The end of a database that has everything: what replication does not bring is brought now. */
async function finalizeDatabase(
  { ports }: PostgresMigrationContext,
  { source, target }: PostgresJournalEntry,
  progress: DatabaseProgress,
): Promise<void> {
  progress.phase = 'finishing';
  const opening = { name: engineApplicationName };
  try {
    const warnings = await withEngineSession(source, ports, opening, (from) =>
      withEngineSession(target, ports, opening, (to) => copyNonReplicatedData(from, to)),
    );
    progress.warnings.push(...warnings);
  } catch (error) {
    progress.warnings.push(`sequences and views were left: ${redactedReason(error, source.password, target.password)}`);
  }
}
