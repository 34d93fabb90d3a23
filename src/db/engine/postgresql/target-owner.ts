import { Secret } from '../../../base/secret.ts';
import type { PostgresqlEndpoint } from '../../../postgresql/endpoint.ts';
import { quoteIdentifier, quoteLiteral } from '../../../postgresql/quote.ts';
import type { SearchPathSafeSession } from '../../../postgresql/search-path-safe-session.ts';
import type { MigrationEngineDependencies } from '../migration-engine-input.ts';
import { getSqlStateOrSystemCode, MigrationError, redactErrorReason } from '../migration-error.ts';
import type { PostgresMigrationCleanupEntry, TargetStateBeforeMigration } from '../migration-journal.ts';
import { computeScramVerifier } from './compute-scram-verifier.ts';
import { queryLastRows, querySingleValue, withEngineDatabaseSession } from './engine-session.ts';
import { migrationEngineApplicationName } from './replication-object-names.ts';
import { readTargetPrivileges, restoreTargetPrivileges } from './target-privileges.ts';

/** The state of the target database before the role of the migration becomes its owner. */
export async function readTargetStateBeforeMigration(
  session: SearchPathSafeSession,
): Promise<TargetStateBeforeMigration> {
  const [row] = await queryLastRows(
    session,
    `SELECT pg_get_userbyid(d.datdba) AS owner, d.datname AS name,
       (SELECT pg_get_userbyid(nspowner) FROM pg_namespace WHERE nspname = 'public') AS public_owner
     FROM pg_database d WHERE d.datname = current_database()`,
  );
  return {
    owner: row?.owner ?? '',
    ...(row?.public_owner == null ? {} : { publicOwner: row.public_owner }),
    settings: await readDatabaseSettings(session, row?.name ?? ''),
    privileges: await readTargetPrivileges(session, row?.name ?? ''),
  };
}

async function readDatabaseSettings(session: SearchPathSafeSession, dbname: string): Promise<readonly string[]> {
  const rows = await queryLastRows(
    session,
    `SELECT unnest(s.setconfig) AS setting FROM pg_db_role_setting s JOIN pg_database d ON d.oid = s.setdatabase
     WHERE s.setrole = 0 AND d.datname = ${quoteLiteral(dbname)}`,
  );
  return rows.map(({ setting }) => setting ?? '');
}

/**
 * Creates the role that owns one target database while the migration writes to it. Expressions of the source run with
 * the privileges of this role, so the role is no superuser and logs in itself: after SET ROLE such expressions could
 * return to the role of the session.
 * @param session of a superuser in that database
 * @param entry the journal entry, which was written before
 * @returns the login of the role
 */
export async function createTargetOwner(
  session: SearchPathSafeSession,
  { name, target }: PostgresMigrationCleanupEntry,
  { publicOwner }: TargetStateBeforeMigration,
  deps: MigrationEngineDependencies,
  signal: AbortSignal,
): Promise<PostgresqlEndpoint> {
  const role = quoteIdentifier(name);
  const password = Buffer.from(deps.random(24)).toString('base64url');
  // The role has BYPASSRLS, because it must copy rows into tables with FORCE ROW LEVEL SECURITY; it has no privileges
  // on tables of others.
  await session.query(
    `CREATE ROLE ${role} LOGIN NOSUPERUSER BYPASSRLS PASSWORD ${quoteLiteral(computeScramVerifier(password, deps.random(16)))}`,
  );
  // As in replication, triggers and foreign keys do not fire while rows are copied. Only a superuser can set
  // session_replication_role for the role.
  await session.query(`ALTER ROLE ${role} SET session_replication_role = 'replica'`);
  await session.query(`ALTER DATABASE ${quoteIdentifier(target.dbname)} OWNER TO ${role}`);
  // From PostgreSQL 15 on, the schema public belongs to the owner of the database.
  if (publicOwner !== undefined && publicOwner !== 'pg_database_owner') {
    await session.query(`ALTER SCHEMA public OWNER TO ${role}`);
  }
  const login = { ...target, username: name, password: new Secret(password) };
  await assertLogin(login, deps, signal);
  return login;
}

/** Checks that the role can log in, because pg_hba.conf of the target may allow only the superuser. */
async function assertLogin(
  login: PostgresqlEndpoint,
  deps: MigrationEngineDependencies,
  signal: AbortSignal,
): Promise<void> {
  try {
    await withEngineDatabaseSession(login, deps, { name: migrationEngineApplicationName, signal }, async () => {});
  } catch (error) {
    if (!/^28/.test(getSqlStateOrSystemCode(error) ?? '')) throw error;
    throw new MigrationError(
      `the role that receives the copy cannot log in to the target: ${redactErrorReason(error, login.password)}; allow user names that begin with cloudctl_ in pg_hba.conf of the target`,
    );
  }
}

/**
 * Revokes the login of the role, and restores the owner of the database. The role remains the owner of the copied
 * objects: functions and views run with the privileges of their owner, so a superuser must not own them. A role that
 * owns no objects is dropped.
 * @param session of a superuser in that database, or in another one when it does not exist any more
 */
export async function cleanUpTargetOwnerRole(
  session: SearchPathSafeSession,
  { name, target, former }: PostgresMigrationCleanupEntry,
): Promise<void> {
  const literal = quoteLiteral(name);
  const exists = `SELECT 1 FROM pg_roles WHERE rolname = ${literal}`;
  if ((await querySingleValue(session, exists)) === undefined) return;
  const role = quoteIdentifier(name);
  await session.query(`ALTER ROLE ${role} NOSUPERUSER NOBYPASSRLS NOLOGIN PASSWORD NULL`);
  await session.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = ${literal}`);
  if (former !== undefined) await restoreFormerState(session, name, target.dbname, former);
  await session.query(`ALTER ROLE ${role} RESET ALL`);
  try {
    await session.query(`DROP ROLE ${role}`);
  } catch (error) {
    if (getSqlStateOrSystemCode(error) !== dependentObjectsStillExist) throw error;
  }
}

const dependentObjectsStillExist = '2BP01';

async function restoreFormerState(
  session: SearchPathSafeSession,
  name: string,
  dbname: string,
  former: TargetStateBeforeMigration,
): Promise<void> {
  const [row] = await queryLastRows(
    session,
    `SELECT pg_get_userbyid(d.datdba) = ${quoteLiteral(name)} AS owns, d.datname = current_database() AS is_inside,
       (SELECT pg_get_userbyid(nspowner) = ${quoteLiteral(name)} FROM pg_namespace WHERE nspname = 'public') AS owns_public
     FROM pg_database d WHERE d.datname = ${quoteLiteral(dbname)}`,
  );
  if (row === undefined) return;
  const database = quoteIdentifier(dbname);
  if (row.owns === 't') {
    // The settings are restored before the owner, so that a second attempt can recognize by the owner that they are not
    // restored yet.
    await restoreDatabaseSettings(session, dbname, former.settings);
    await session.query(`ALTER DATABASE ${database} OWNER TO ${await existingRole(session, former.owner)}`);
  }
  if (row.is_inside === 't' && row.owns_public === 't' && former.publicOwner !== undefined) {
    await session.query(`ALTER SCHEMA public OWNER TO ${await existingRole(session, former.publicOwner)}`);
  }
  await restoreTargetPrivileges(session, dbname, former.privileges);
}

/**
 * Settings of the database are removed, because its owner can set parameters such as search_path for every later
 * session.
 */
async function restoreDatabaseSettings(
  session: SearchPathSafeSession,
  dbname: string,
  settings: readonly string[],
): Promise<void> {
  const current = await readDatabaseSettings(session, dbname);
  if (current.length === settings.length && current.every((setting, at) => setting === settings[at])) return;
  const database = quoteIdentifier(dbname);
  const statements = settings.flatMap((setting) => {
    const [name, value] = [setting.slice(0, setting.indexOf('=')), setting.slice(setting.indexOf('=') + 1)];
    const alter = `ALTER DATABASE ${database} SET ${quoteIdentifier(name)}`;
    if (!quotedLists.has(name)) return [`${alter} TO ${quoteLiteral(value)}`];
    // A list setting is set with set_config, which splits the value at its commas; ALTER DATABASE would store a single
    // element.
    return [
      `SELECT pg_catalog.set_config(${quoteLiteral(name)}, ${quoteLiteral(value)}, true)`,
      `${alter} FROM CURRENT`,
    ];
  });
  await session.query(['BEGIN', `ALTER DATABASE ${database} RESET ALL`, ...statements, 'COMMIT'].join('; '));
}

/** The settings of a database whose value is a list of quoted names: GUC_LIST_QUOTE in guc_tables of PostgreSQL. */
const quotedLists: ReadonlySet<string> = new Set([
  'search_path',
  'temp_tablespaces',
  'session_preload_libraries',
  'local_preload_libraries',
]);

async function existingRole(session: SearchPathSafeSession, name: string): Promise<string> {
  const found = await querySingleValue(session, `SELECT 1 FROM pg_roles WHERE rolname = ${quoteLiteral(name)}`);
  return found === undefined ? 'CURRENT_USER' : quoteIdentifier(name);
}
