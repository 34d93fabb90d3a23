import { quoteIdentifier, quoteLiteral } from '../../../postgresql/quote.ts';
import type { SearchPathSafeSession } from '../../../postgresql/search-path-safe-session.ts';
import type { GrantedTargetPrivilege } from '../migration-journal.ts';
import { queryLastRows } from './engine-session.ts';

/**
 * Reads the privileges on a database and, for a session in that database, on its schema public. Default privileges are
 * listed like granted privileges.
 */
export async function readTargetPrivileges(
  session: SearchPathSafeSession,
  dbname: string,
): Promise<readonly GrantedTargetPrivilege[]> {
  const rows = await queryLastRows(
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
export async function restoreTargetPrivileges(
  session: SearchPathSafeSession,
  dbname: string,
  former: readonly GrantedTargetPrivilege[],
): Promise<void> {
  const current = await readTargetPrivileges(session, dbname);
  const roles = new Set((await queryLastRows(session, 'SELECT rolname FROM pg_roles')).map(({ rolname }) => rolname));
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

function privilegeKey({ grantee, privilege, grantable }: GrantedTargetPrivilege): string {
  return JSON.stringify([grantee, privilege, grantable]);
}

function formatGrantee(grantee: string): string {
  return grantee === '' ? 'PUBLIC' : quoteIdentifier(grantee);
}
