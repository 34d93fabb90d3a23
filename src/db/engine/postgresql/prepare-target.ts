import type { PostgresqlEndpoint } from '../../../postgresql/endpoint.ts';
import type { DatabaseMigrationProgress } from '../engine-migration-state.ts';
import { MigrationError, redactErrorReason } from '../migration-error.ts';
import type { PostgresMigrationCleanupEntry, TargetStateBeforeMigration } from '../migration-journal.ts';
import {
  createTargetDatabase,
  type DatabaseCreationProperties,
  listFirstUserTables,
} from './database-creation-properties.ts';
import { withEngineDatabaseSession } from './engine-session.ts';
import type { PostgresMigrationEngineContext } from './migration-context.ts';
import { migrationEngineApplicationName } from './replication-object-names.ts';
import { createTargetOwner, readTargetStateBeforeMigration } from './target-owner.ts';

/**
 * Creates the target database if it does not exist. Throws if the database has tables.
 * @returns the present owner of the database, if a role of the migration will own it
 */
export async function prepareTargetDatabase(
  { job, deps, stop, target: { isSuperuser } }: PostgresMigrationEngineContext,
  database: DatabaseCreationProperties,
  target: PostgresqlEndpoint,
  progress: DatabaseMigrationProgress,
): Promise<TargetStateBeforeMigration | undefined> {
  const options = { name: migrationEngineApplicationName, signal: stop };
  progress.warnings.push(
    ...(await withEngineDatabaseSession(job.target, deps, options, (session) =>
      createTargetDatabase(session, database),
    )),
  );
  return withEngineDatabaseSession(target, deps, options, async (session) => {
    const existing = await listFirstUserTables(session);
    if (existing.length > 0) {
      throw new MigrationError(
        `the target database is not empty: it contains ${existing.join(', ')}; drop the database on the target and start again`,
      );
    }
    return isSuperuser ? readTargetStateBeforeMigration(session) : undefined;
  });
}

/**
 * The login that writes to the target: a new role that owns the database, or, without a superuser, the role that was
 * given.
 */
export async function prepareTargetMigrationRole(
  { deps, stop }: PostgresMigrationEngineContext,
  entry: PostgresMigrationCleanupEntry,
): Promise<PostgresqlEndpoint> {
  const { former, target } = entry;
  if (former === undefined) return target;
  return withEngineDatabaseSession(target, deps, { name: migrationEngineApplicationName, signal: stop }, (session) =>
    createTargetOwner(session, entry, former, deps, stop),
  );
}

/** @returns statements that a superuser must run after all other steps of the migration */
export async function copyDatabaseSchema(
  { job, deps, stop }: PostgresMigrationEngineContext,
  { name, source, target, former }: PostgresMigrationCleanupEntry,
  { targetLogin, warnings }: DatabaseMigrationProgress,
): Promise<readonly string[]> {
  const superuser =
    former === undefined
      ? undefined
      : { endpoint: target, owner: name, allowObjects: job.allowSuperuserObjects ?? false };
  const copied = await deps.schemaCopy(source, targetLogin ?? target, stop, superuser);
  if (copied.kind === 'refused') {
    throw new MigrationError(`cannot copy the schema: ${copied.objects.join(', ')}`);
  }
  warnings.push(...copied.warnings);
  return copied.lastStatements ?? [];
}

/** Event triggers are created last, because they would fire for statements of the migration. */
export async function createDeferredEventTriggersAndPublications(
  { deps }: PostgresMigrationEngineContext,
  { target }: PostgresMigrationCleanupEntry,
  statements: readonly string[],
  { warnings }: DatabaseMigrationProgress,
): Promise<void> {
  if (statements.length === 0) return;
  try {
    await withEngineDatabaseSession(target, deps, { name: migrationEngineApplicationName }, async (session) => {
      for (const statement of statements) await session.query(statement);
    });
  } catch (error) {
    warnings.push(`could not create event triggers and publications: ${redactErrorReason(error, target.password)}`);
  }
}
