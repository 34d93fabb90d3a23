import type { PostgresqlSource } from '../../postgresql/source.ts';
import { MigrationError, redactedReason } from '../migration-error.ts';
import type { FormerTargetState, PostgresJournalEntry } from '../migration-journal.ts';
import type { DatabaseProgress } from '../migration-state.ts';
import { createTargetDatabase, type DatabaseDefinition, listUserTables } from './database-definition.ts';
import { withEngineSession } from './engine-session.ts';
import type { PostgresMigrationContext } from './migration-context.ts';
import { engineApplicationName } from './object-names.ts';
import { createTargetOwner, readFormerTargetState } from './target-owner.ts';

/**
 * Creates the target database if it does not exist. Throws if the database has tables.
 * @returns the present owner of the database, if a role of the migration will own it
 */
export async function prepareTargetDatabase(
  { job, deps, stop, target: { isSuperuser } }: PostgresMigrationContext,
  database: DatabaseDefinition,
  target: PostgresqlSource,
  progress: DatabaseProgress,
): Promise<FormerTargetState | undefined> {
  const options = { name: engineApplicationName, signal: stop };
  progress.warnings.push(
    ...(await withEngineSession(job.target, deps, options, (session) => createTargetDatabase(session, database))),
  );
  return withEngineSession(target, deps, options, async (session) => {
    const existing = await listUserTables(session);
    if (existing.length > 0) {
      throw new MigrationError(
        `the target database is not empty: it contains ${existing.join(', ')}; drop the database on the target and start again`,
      );
    }
    return isSuperuser ? readFormerTargetState(session) : undefined;
  });
}

/**
 * The login that writes to the target: a new role that owns the database, or, without a superuser, the role that was
 * given.
 */
export async function prepareTargetLogin(
  { deps, stop }: PostgresMigrationContext,
  entry: PostgresJournalEntry,
): Promise<PostgresqlSource> {
  const { former, target } = entry;
  if (former === undefined) return target;
  return withEngineSession(target, deps, { name: engineApplicationName, signal: stop }, (session) =>
    createTargetOwner(session, entry, former, deps, stop),
  );
}

/** @returns statements that a superuser must run after all other steps of the migration */
export async function copyDatabaseSchema(
  { job, deps, stop }: PostgresMigrationContext,
  { name, source, target, former }: PostgresJournalEntry,
  { targetLogin, warnings }: DatabaseProgress,
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
export async function createLateObjects(
  { deps }: PostgresMigrationContext,
  { target }: PostgresJournalEntry,
  statements: readonly string[],
  { warnings }: DatabaseProgress,
): Promise<void> {
  if (statements.length === 0) return;
  try {
    await withEngineSession(target, deps, { name: engineApplicationName }, async (session) => {
      for (const statement of statements) await session.query(statement);
    });
  } catch (error) {
    warnings.push(`could not create event triggers and publications: ${redactedReason(error, target.password)}`);
  }
}
