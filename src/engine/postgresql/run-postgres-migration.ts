import { MigrationError } from '../migration-error.ts';
import type { EngineDependencies, PostgresMigrationJob } from '../migration-job.ts';
import type { MigrationProgress } from '../migration-progress.ts';
import { createDatabaseProgress, hasEnded } from '../migration-state.ts';
import { createSemaphore } from '../semaphore.ts';
import { copyRoles } from './copy-roles.ts';
import { type DatabaseDefinition, listSourceDatabases } from './database-definition.ts';
import { withEngineSession } from './engine-session.ts';
import { migrateDatabase } from './migrate-database.ts';
import { engineApplicationName } from './object-names.ts';
import { isReplicationIdle } from './replicate-database.ts';
import { assertPostgresCompatible, readServerIdentity, type ServerIdentity } from './server-identity.ts';
import { createSourcePoller } from './source-poller.ts';

/** Moves every database of the source. Rejects when none could be begun; what becomes of each stands on the board. */
export async function runPostgresMigration(
  job: PostgresMigrationJob,
  ports: EngineDependencies,
  board: MigrationProgress,
  stop: AbortSignal,
): Promise<void> {
  const found = await prepareMigration(job, ports, board, stop);
  board.databases.push(...found.databases.map(({ name }) => createDatabaseProgress(name)));
  const idle = new AbortController();
  const end = AbortSignal.any([stop, idle.signal]);
  const tower = createSourcePoller(job.source, found.source.version, ports, end);
  const run = {
    ...found,
    job,
    ports,
    tower,
    setup: createSemaphore(ports.limits.parallelDatabases),
    subscribing: createSemaphore(1),
    stop,
    end,
    leftovers: board.leftovers,
  };
  const moves = found.databases.map((database, at) => migrateDatabase(run, database, board.databases[at]!));
  const all = Promise.all(moves);
  if (job.finishWhenIdle) void stopWhenIdle(board, ports, idle, all);
  await all;
  await tower.close();
}

interface PreparedMigration {
  readonly source: ServerIdentity;
  readonly target: ServerIdentity;
  readonly databases: readonly DatabaseDefinition[];
}

async function prepareMigration(
  job: PostgresMigrationJob,
  ports: EngineDependencies,
  board: MigrationProgress,
  signal: AbortSignal,
): Promise<PreparedMigration> {
  const opening = { name: engineApplicationName, signal };
  return withEngineSession(job.source, ports, opening, (from) =>
    withEngineSession(job.target, ports, opening, async (to) => {
      const [source, target] = [await readServerIdentity(from), await readServerIdentity(to)];
      assertPostgresCompatible(source, target);
      const databases = await listSourceDatabases(from, job.ignoreDbs);
      if (databases.length === 0) throw new MigrationError('every database of the source is left out');
      board.warnings.push(...(await copyRoles(from, to, ports.random)));
      return { source, target, databases };
    }),
  );
}

/** A database that has failed, or was dumped, keeps nobody waiting. */
async function stopWhenIdle(
  board: MigrationProgress,
  ports: EngineDependencies,
  idle: AbortController,
  all: Promise<unknown>,
): Promise<void> {
  const over = new AbortController();
  void all.then(() => over.abort());
  while (!over.signal.aborted) {
    const living = board.databases.filter((one) => !hasEnded(one));
    if (living.length > 0 && living.every(isReplicationIdle)) return idle.abort();
    await ports.sleep(ports.limits.pollInterval, over.signal).catch(() => {});
  }
  return undefined;
}
