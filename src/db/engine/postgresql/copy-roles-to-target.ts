import { firstNormalObjectId } from '../../../postgresql/catalog-oids.ts';
import type { PostgresqlRow } from '../../../postgresql/postgresql-row.ts';
import { quoteIdentifier, quoteLiteral } from '../../../postgresql/quote.ts';
import type { SearchPathSafeSession } from '../../../postgresql/search-path-safe-session.ts';
import { getSqlStateOrSystemCode, redactErrorReason } from '../migration-error.ts';
import { queryLastRows, querySingleValue } from './engine-session.ts';

/**
 * Creates the roles of the source on the target, so that grants can refer to them. The roles get random passwords and
 * no SUPERUSER. Roles that existed on the target before are not changed, and get no members.
 * @returns a warning for each role or membership that could not be created
 */
export async function copyRolesToTarget(
  source: SearchPathSafeSession,
  target: SearchPathSafeSession,
  random: (bytes: number) => Uint8Array,
): Promise<readonly string[]> {
  const warnings: string[] = [];
  const attempt = async (what: string, statement: string) => {
    try {
      await target.query(statement);
    } catch (error) {
      // SQLSTATEs of an existing role: duplicate_object, or unique_violation if another session creates the role at the
      // same time.
      if (!['42710', '23505'].includes(getSqlStateOrSystemCode(error) ?? ''))
        warnings.push(`could not create ${what}: ${redactErrorReason(error)}`);
    }
  };
  const existing = new Set((await queryLastRows(target, 'SELECT rolname FROM pg_roles')).map(({ rolname }) => rolname));
  const version = Number(await querySingleValue(target, 'SHOW server_version_num'));
  for (const role of await queryLastRows(source, rolesQuery)) {
    const password = Buffer.from(random(24)).toString('base64url');
    await attempt(`role ${role.rolname}`, createRole(role, password, version));
  }
  const members = new Set((await queryLastRows(target, membersQuery)).map(membershipKey));
  for (const row of await queryLastRows(source, membersQuery)) {
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
  FROM pg_roles WHERE oid >= ${firstNormalObjectId} ORDER BY oid`;

const membersQuery = `SELECT r.rolname AS role, m.rolname AS member FROM pg_auth_members a
  JOIN pg_roles r ON r.oid = a.roleid JOIN pg_roles m ON m.oid = a.member
  WHERE r.oid >= ${firstNormalObjectId} AND m.oid >= ${firstNormalObjectId} ORDER BY 1, 2`;

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
