import { MigrationError, managedSourceMessage } from '../migration-error.ts';
import type { EngineDependencies, PostgresMigrationJob } from '../migration-job.ts';
import type { MigrationProgress } from '../migration-progress.ts';
import { createDatabaseProgress, hasMigrationEnded } from '../migration-state.ts';
import { createSemaphore } from '../semaphore.ts';
import { copyRoles } from './copy-roles.ts';
import { type DatabaseDefinition, listSourceDatabases } from './database-definition.ts';
import { withEngineSession } from './engine-session.ts';
import { migrateDatabase } from './migrate-database.ts';
import { engineApplicationName } from './object-names.ts';
import { isReplicationIdle } from './replicate-database.ts';
import { readServerIdentity, requireCompatibleServers, type ServerIdentity } from './server-identity.ts';
import { createSourcePoller } from './source-poller.ts';

/**
 * Migrates all databases of the source. Rejects if no database could start; the outcome of each database is in
 * `migrationProgress`.
 */
export async function runPostgresMigration(
  job: PostgresMigrationJob,
  deps: EngineDependencies,
  migrationProgress: MigrationProgress,
  stop: AbortSignal,
): Promise<void> {
  const prepared = await prepareMigration(job, deps, migrationProgress, stop);
  migrationProgress.databases.push(...prepared.databases.map(({ name }) => createDatabaseProgress(name)));
  const idle = new AbortController();
  const end = AbortSignal.any([stop, idle.signal]);
  const poller = createSourcePoller(job.source, prepared.source.version, deps, end);
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
    prepared.databases.map((database, at) => migrateDatabase(context, database, migrationProgress.databases[at]!)),
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
  job: PostgresMigrationJob,
  deps: EngineDependencies,
  migrationProgress: MigrationProgress,
  signal: AbortSignal,
): Promise<PreparedMigration> {
  const opening = { name: engineApplicationName, signal };
  return withEngineSession(job.source, deps, opening, (from) =>
    withEngineSession(job.target, deps, opening, async (to) => {
      const [source, target] = [await readServerIdentity(from), await readServerIdentity(to)];
      requireCompatibleServers(source, target);
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
 * A managed cluster cannot be migrated to another managed cluster (spec.md §4.6), whatever host name the request uses
 * for it. A managed server that does not respond cannot be the source, because the source responds.
 */
async function refuseManagedSource(
  source: ServerIdentity,
  { managedServers = [] }: PostgresMigrationJob,
  deps: EngineDependencies,
  signal: AbortSignal,
): Promise<void> {
  const opening = { name: engineApplicationName, signal };
  for (const server of managedServers) {
    const one = await withEngineSession(server, deps, opening, readServerIdentity).catch(() => undefined);
    if (one !== undefined && one.system === source.system && one.startedAt === source.startedAt)
      throw new MigrationError(managedSourceMessage);
  }
}

/**
 * Ends the migration when no running database has anything left to replicate. Failed databases and databases migrated
 * with a dump do not count.
 */
async function stopWhenIdle(
  migrationProgress: MigrationProgress,
  deps: EngineDependencies,
  idle: AbortController,
  all: Promise<unknown>,
): Promise<void> {
  const finished = new AbortController();
  void all.then(() => finished.abort());
  while (!finished.signal.aborted) {
    const active = migrationProgress.databases.filter((one) => !hasMigrationEnded(one));
    if (active.length > 0 && active.every(isReplicationIdle)) return idle.abort();
    await deps.sleep(deps.limits.pollInterval, finished.signal).catch(() => {});
  }
  return undefined;
}
