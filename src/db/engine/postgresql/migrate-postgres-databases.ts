import { createInitialDatabaseMigrationState, hasDatabaseMigrationEnded } from '../engine-migration-state.ts';
import type { MigrationEngineDependencies, PostgresMigrationEngineInput } from '../migration-engine-input.ts';
import { MigrationError, managedClusterSourceMessage } from '../migration-error.ts';
import type { MigrationProgress } from '../migration-progress.ts';
import { createSemaphore } from '../semaphore.ts';
import { copyRolesToTarget } from './copy-roles-to-target.ts';
import { type DatabaseCreationProperties, listSourceDatabases } from './database-creation-properties.ts';
import { withEngineDatabaseSession } from './engine-session.ts';
import { migratePostgresqlDatabase } from './migrate-database.ts';
import { isReplicationIdle } from './monitor-database-replication.ts';
import { migrationEngineApplicationName } from './replication-object-names.ts';
import {
  type PostgresqlServerIdentity,
  readPostgresqlServerIdentity,
  requireMigratablePostgresqlServers,
} from './server-identity.ts';
import { createSourceSlotPoller } from './source-slot-poller.ts';

/**
 * Migrates all databases of the source. Rejects if no database could start; the outcome of each database is in
 * `migrationProgress`.
 */
export async function migratePostgresDatabases(
  job: PostgresMigrationEngineInput,
  deps: MigrationEngineDependencies,
  migrationProgress: MigrationProgress,
  stop: AbortSignal,
): Promise<void> {
  const prepared = await prepareMigration(job, deps, migrationProgress, stop);
  migrationProgress.databases.push(...prepared.databases.map(({ name }) => createInitialDatabaseMigrationState(name)));
  const idle = new AbortController();
  const end = AbortSignal.any([stop, idle.signal]);
  const poller = createSourceSlotPoller(job.source, prepared.source.version, deps, end);
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
  readonly source: PostgresqlServerIdentity;
  readonly target: PostgresqlServerIdentity;
  readonly databases: readonly DatabaseCreationProperties[];
}

async function prepareMigration(
  job: PostgresMigrationEngineInput,
  deps: MigrationEngineDependencies,
  migrationProgress: MigrationProgress,
  signal: AbortSignal,
): Promise<PreparedMigration> {
  const opening = { name: migrationEngineApplicationName, signal };
  return withEngineDatabaseSession(job.source, deps, opening, (from) =>
    withEngineDatabaseSession(job.target, deps, opening, async (to) => {
      const [source, target] = [await readPostgresqlServerIdentity(from), await readPostgresqlServerIdentity(to)];
      requireMigratablePostgresqlServers(source, target);
      await refuseManagedSource(source, job, deps, signal);
      const databases = await listSourceDatabases(from, job.ignoreDbs);
      if (databases.length === 0)
        throw new MigrationError('no database to migrate: all databases of the source are ignored');
      migrationProgress.warnings.push(...(await copyRolesToTarget(from, to, deps.random)));
      return { source, target, databases };
    }),
  );
}

/**
 * A managed cluster cannot be migrated to another managed cluster (docs/service.md S9.12), whatever host name the request uses
 * for it. A managed server that does not respond cannot be the source, because the source responds.
 */
async function refuseManagedSource(
  source: PostgresqlServerIdentity,
  { managedServers = [] }: PostgresMigrationEngineInput,
  deps: MigrationEngineDependencies,
  signal: AbortSignal,
): Promise<void> {
  const opening = { name: migrationEngineApplicationName, signal };
  for (const server of managedServers) {
    const one = await withEngineDatabaseSession(server, deps, opening, readPostgresqlServerIdentity).catch(
      () => undefined,
    );
    if (one !== undefined && one.system === source.system && one.startedAt === source.startedAt)
      throw new MigrationError(managedClusterSourceMessage);
  }
}

/**
 * Ends the migration when no running database has anything left to replicate. Failed databases and databases migrated
 * with a dump do not count.
 */
async function stopWhenIdle(
  migrationProgress: MigrationProgress,
  deps: MigrationEngineDependencies,
  idle: AbortController,
  all: Promise<unknown>,
): Promise<void> {
  const finished = new AbortController();
  void all.then(() => finished.abort());
  while (!finished.signal.aborted) {
    const active = migrationProgress.databases.filter((one) => !hasDatabaseMigrationEnded(one));
    if (active.length > 0 && active.every(isReplicationIdle)) return idle.abort();
    await deps.sleep(deps.limits.pollInterval, finished.signal).catch(() => {});
  }
  return undefined;
}
