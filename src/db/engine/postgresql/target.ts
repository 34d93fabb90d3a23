import { createHash, createHmac, pbkdf2Sync } from 'node:crypto';
import { Secret } from '../../../base/secret.ts';
import { firstNormalOid } from '../../../postgresql/catalog-oids.ts';
import type { PostgresqlEndpoint } from '../../../postgresql/endpoint.ts';
import { quoteIdentifier, quoteLiteral } from '../../../postgresql/quote.ts';
import type { PostgresqlRow } from '../../../postgresql/rows.ts';
import type { SafeSession } from '../../../postgresql/search-path-safe-session.ts';
import { MigrationError, redactReason, sqlStateOf } from '../error.ts';
import type { EngineSystem } from '../input.ts';
import type { GrantedPrivilege, PostgresEntry, TargetBefore } from '../journal.ts';
import type { DatabaseProgress } from '../state.ts';
import type { RunContext } from './context.ts';
import { createDatabase, type DatabaseDefinition, firstTables } from './databases.ts';
import { engineName } from './names.ts';
import { lastRows, singleValue, withSession } from './session.ts';

/**
 * Creates the target database if it does not exist. Throws if the database has tables.
 * @returns the present owner of the database, if a role of the migration will own it
 */
export async function prepareDatabase(
  { job, deps, stop, target: { isSuperuser } }: RunContext,
  database: DatabaseDefinition,
  target: PostgresqlEndpoint,
  progress: DatabaseProgress,
): Promise<TargetBefore | undefined> {
  const options = { name: engineName, signal: stop };
  progress.warnings.push(
    ...(await withSession(job.target, deps, options, (session) => createDatabase(session, database))),
  );
  return withSession(target, deps, options, async (session) => {
    const existing = await firstTables(session);
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
export async function prepareRole({ deps, stop }: RunContext, entry: PostgresEntry): Promise<PostgresqlEndpoint> {
  const { former, target } = entry;
  if (former === undefined) return target;
  return withSession(target, deps, { name: engineName, signal: stop }, (session) =>
    createTargetOwner(session, entry, former, deps, stop),
  );
}

/** @returns statements that a superuser must run after all other steps of the migration */
export async function copySchema(
  { job, deps, stop }: RunContext,
  { name, source, target, former }: PostgresEntry,
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
export async function createLast(
  { deps }: RunContext,
  { target }: PostgresEntry,
  statements: readonly string[],
  { warnings }: DatabaseProgress,
): Promise<void> {
  if (statements.length === 0) return;
  try {
    await withSession(target, deps, { name: engineName }, async (session) => {
      for (const statement of statements) await session.query(statement);
    });
  } catch (error) {
    warnings.push(`could not create event triggers and publications: ${redactReason(error, target.password)}`);
  }
}

/** The state of the target database before the role of the migration becomes its owner. */
async function readTargetStateBeforeMigration(session: SafeSession): Promise<TargetBefore> {
  const [row] = await lastRows(
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

async function readDatabaseSettings(session: SafeSession, dbname: string): Promise<readonly string[]> {
  const rows = await lastRows(
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
async function createTargetOwner(
  session: SafeSession,
  { name, target }: PostgresEntry,
  { publicOwner }: TargetBefore,
  deps: EngineSystem,
  signal: AbortSignal,
): Promise<PostgresqlEndpoint> {
  const role = quoteIdentifier(name);
  const password = Buffer.from(deps.random(24)).toString('base64url');
  // The role has BYPASSRLS, because it must copy rows into tables with FORCE ROW LEVEL SECURITY; it has no privileges
  // on tables of others.
  await session.query(
    `CREATE ROLE ${role} LOGIN NOSUPERUSER BYPASSRLS PASSWORD ${quoteLiteral(scramVerifier(password, deps.random(16)))}`,
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
async function assertLogin(login: PostgresqlEndpoint, deps: EngineSystem, signal: AbortSignal): Promise<void> {
  try {
    await withSession(login, deps, { name: engineName, signal }, async () => {});
  } catch (error) {
    if (!/^28/.test(sqlStateOf(error) ?? '')) throw error;
    throw new MigrationError(
      `the role that receives the copy cannot log in to the target: ${redactReason(error, login.password)}; allow user names that begin with cloudctl_ in pg_hba.conf of the target`,
    );
  }
}

/**
 * Revokes the login of the role, and restores the owner of the database. The role remains the owner of the copied
 * objects: functions and views run with the privileges of their owner, so a superuser must not own them. A role that
 * owns no objects is dropped.
 * @param session of a superuser in that database, or in another one when it does not exist any more
 */
export async function cleanUpOwner(session: SafeSession, { name, target, former }: PostgresEntry): Promise<void> {
  const literal = quoteLiteral(name);
  const exists = `SELECT 1 FROM pg_roles WHERE rolname = ${literal}`;
  if ((await singleValue(session, exists)) === undefined) return;
  const role = quoteIdentifier(name);
  await session.query(`ALTER ROLE ${role} NOSUPERUSER NOBYPASSRLS NOLOGIN PASSWORD NULL`);
  await session.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = ${literal}`);
  if (former !== undefined) await restoreFormerState(session, name, target.dbname, former);
  await session.query(`ALTER ROLE ${role} RESET ALL`);
  try {
    await session.query(`DROP ROLE ${role}`);
  } catch (error) {
    if (sqlStateOf(error) !== dependentObjectsStillExist) throw error;
  }
}

const dependentObjectsStillExist = '2BP01';

async function restoreFormerState(
  session: SafeSession,
  name: string,
  dbname: string,
  former: TargetBefore,
): Promise<void> {
  const [row] = await lastRows(
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
  if (row.is_inside === 't') await returnExtensionTables(session, name);
  if (row.is_inside === 't' && row.owns_public === 't' && former.publicOwner !== undefined) {
    await session.query(`ALTER SCHEMA public OWNER TO ${await existingRole(session, former.publicOwner)}`);
  }
  await restoreTargetPrivileges(session, dbname, former.privileges);
}

/** The tables of extensions belong to the owner of the extension again. */
async function returnExtensionTables(session: SafeSession, name: string): Promise<void> {
  const rows = await lastRows(
    session,
    `SELECT format('ALTER TABLE %I.%I OWNER TO %I', n.nspname, c.relname, pg_get_userbyid(e.extowner)) AS text
     FROM pg_depend d JOIN pg_extension e ON e.oid = d.refobjid
     JOIN pg_class c ON c.oid = d.objid AND c.relkind IN ('r', 'p') JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e'
       AND pg_get_userbyid(c.relowner) = ${quoteLiteral(name)}`,
  );
  for (const { text } of rows) await session.query(text ?? '');
}

/**
 * Settings of the database are removed, because its owner can set parameters such as search_path for every later
 * session.
 */
async function restoreDatabaseSettings(
  session: SafeSession,
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

async function existingRole(session: SafeSession, name: string): Promise<string> {
  const found = await singleValue(session, `SELECT 1 FROM pg_roles WHERE rolname = ${quoteLiteral(name)}`);
  return found === undefined ? 'CURRENT_USER' : quoteIdentifier(name);
}

/**
 * Reads the privileges on a database and, for a session in that database, on its schema public. Default privileges are
 * listed like granted privileges.
 */
async function readTargetPrivileges(session: SafeSession, dbname: string): Promise<readonly GrantedPrivilege[]> {
  const rows = await lastRows(
    session,
    `SELECT o.kind, coalesce(r.rolname, '') AS grantee, a.privilege_type AS privilege, a.is_grantable AS grantable
     FROM (
       SELECT 'database' AS kind, coalesce(datacl, acldefault('d', datdba)) AS acl FROM pg_database
       WHERE datname = ${quoteLiteral(dbname)}
       UNION ALL SELECT 'public', coalesce(nspacl, acldefault('n', nspowner)) FROM pg_namespace
       WHERE nspname = 'public' AND current_database() = ${quoteLiteral(dbname)}
     ) o, aclexplode(o.acl) a LEFT JOIN pg_roles r ON r.oid = a.grantee
     WHERE a.grantee = 0 OR r.oid IS NOT NULL
     GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4`,
  );
  return rows.map(({ kind, grantee, privilege, grantable }) => ({
    kind: kind === 'public' ? 'public' : 'database',
    grantee: grantee ?? '',
    privilege: privilege ?? '',
    grantable: grantable === 't',
  }));
}

/**
 * Restores the privileges from before the migration, because the owner of a database can grant privileges to any role.
 * Does nothing if the privileges have not changed. A privilege that another role had granted is now granted by the
 * owner.
 * @param session of a superuser, after the former owners were restored
 */
async function restoreTargetPrivileges(
  session: SafeSession,
  dbname: string,
  former: readonly GrantedPrivilege[],
): Promise<void> {
  const current = await readTargetPrivileges(session, dbname);
  const roles = new Set((await lastRows(session, 'SELECT rolname FROM pg_roles')).map(({ rolname }) => rolname));
  for (const kind of new Set(current.map((one) => one.kind))) {
    const now = current.filter((one) => one.kind === kind);
    const before = former.filter(
      (one) => one.kind === kind && (one.grantee === '' || roles.has(one.grantee)) && /^[A-Z]+$/.test(one.privilege),
    );
    if (now.map(privilegeKey).sort().join() === before.map(privilegeKey).sort().join()) continue;
    const object = kind === 'public' ? 'SCHEMA public' : `DATABASE ${quoteIdentifier(dbname)}`;
    const grantees = [...new Set(now.map(({ grantee }) => formatGrantee(grantee)))];
    const grants = before.map(
      ({ grantee, privilege, grantable }) =>
        `GRANT ${privilege} ON ${object} TO ${formatGrantee(grantee)}${grantable ? ' WITH GRANT OPTION' : ''}`,
    );
    const revokes = grantees.map((grantee) => `REVOKE ALL ON ${object} FROM ${grantee} CASCADE`);
    await session.query(['BEGIN', ...revokes, ...grants, 'COMMIT'].join('; '));
  }
}

function privilegeKey({ grantee, privilege, grantable }: GrantedPrivilege): string {
  return JSON.stringify([grantee, privilege, grantable]);
}

function formatGrantee(grantee: string): string {
  return grantee === '' ? 'PUBLIC' : quoteIdentifier(grantee);
}

/**
 * The value that PostgreSQL stores for a password (`pg_authid.rolpassword`). A statement with the SCRAM verifier does
 * not reveal the password in a log, and does not depend on the setting password_encryption of the server.
 * https://www.rfc-editor.org/rfc/rfc5803
 * @param password ASCII only, which needs no SASLprep
 */
export function scramVerifier(password: string, salt: Uint8Array): string {
  const salted = pbkdf2Sync(password, salt, iterations, 32, 'sha256');
  const key = (name: string) => createHmac('sha256', salted).update(name).digest();
  const storedKey = createHash('sha256').update(key('Client Key')).digest();
  const parts = [storedKey, key('Server Key')].map((bytes) => bytes.toString('base64'));
  return `SCRAM-SHA-256$${iterations}:${Buffer.from(salt).toString('base64')}$${parts.join(':')}`;
}

/**
 * The default number of SCRAM iterations of PostgreSQL; more would not protect the password better, because it is
 * random.
 */
const iterations = 4096;

/**
 * Creates the roles of the source on the target, so that grants can refer to them. The roles get random passwords and
 * no SUPERUSER. Roles that existed on the target before are not changed, and get no members.
 * @returns a warning for each role or membership that could not be created
 */
export async function copyRoles(
  source: SafeSession,
  target: SafeSession,
  random: (bytes: number) => Uint8Array,
): Promise<readonly string[]> {
  const warnings: string[] = [];
  const attempt = async (what: string, statement: string) => {
    try {
      await target.query(statement);
    } catch (error) {
      // SQLSTATEs of an existing role: duplicate_object, or unique_violation if another session creates the role at the
      // same time.
      if (!['42710', '23505'].includes(sqlStateOf(error) ?? ''))
        warnings.push(`could not create ${what}: ${redactReason(error)}`);
    }
  };
  const existing = new Set((await lastRows(target, 'SELECT rolname FROM pg_roles')).map(({ rolname }) => rolname));
  const version = Number(await singleValue(target, 'SHOW server_version_num'));
  for (const role of await lastRows(source, rolesQuery)) {
    const password = Buffer.from(random(24)).toString('base64url');
    await attempt(`role ${role.rolname}`, createRole(role, password, version));
  }
  const members = new Set((await lastRows(target, membersQuery)).map(membershipKey));
  for (const row of await lastRows(source, membersQuery)) {
    const { role, member } = row;
    if (role == null || member == null || members.has(membershipKey(row))) continue;
    // No member is added to an existing role, because the role may have more rights on the target than on the source.
    if (existing.has(role)) {
      warnings.push(`${member} is not made a member of ${role}: the target had that role before`);
      continue;
    }
    await attempt(
      `the membership of ${member} in ${role}`,
      `GRANT ${quoteIdentifier(role)} TO ${quoteIdentifier(member)}`,
    );
  }
  return warnings;
}

const rolesQuery = `SELECT rolname, rolinherit, rolcreaterole, rolcreatedb, rolcanlogin, rolconnlimit, rolvaliduntil
  FROM pg_roles WHERE oid >= ${firstNormalOid} ORDER BY oid`;

const membersQuery = `SELECT r.rolname AS role, m.rolname AS member FROM pg_auth_members a
  JOIN pg_roles r ON r.oid = a.roleid JOIN pg_roles m ON m.oid = a.member
  WHERE r.oid >= ${firstNormalOid} AND m.oid >= ${firstNormalOid} ORDER BY 1, 2`;

function membershipKey({ role, member }: PostgresqlRow): string {
  return JSON.stringify([role, member]);
}

function createRole(role: PostgresqlRow, password: string, version: number): string {
  const has = (name: string, word: string) => `${role[name] === 't' ? '' : 'NO'}${word}`;
  return [
    `CREATE ROLE ${quoteIdentifier(role.rolname ?? '')} NOSUPERUSER`,
    has('rolinherit', 'INHERIT'),
    // CREATEROLE is not copied to servers before PostgreSQL 16, where such a role can make itself a member of
    // pg_execute_server_program.
    version < 160_000 ? 'NOCREATEROLE' : has('rolcreaterole', 'CREATEROLE'),
    has('rolcreatedb', 'CREATEDB'),
    has('rolcanlogin', 'LOGIN'),
    `CONNECTION LIMIT ${Number(role.rolconnlimit ?? -1)}`,
    `PASSWORD ${quoteLiteral(password)}`,
    ...(role.rolvaliduntil == null ? [] : [`VALID UNTIL ${quoteLiteral(role.rolvaliduntil)}`]),
  ].join(' ');
}
