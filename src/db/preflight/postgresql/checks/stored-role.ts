import { decodeBoolean, decodeText } from '../../../../postgresql/rows.ts';
import { failOutcome, passOutcome } from '../../finding.ts';
import { declareServerCheck } from '../check.ts';
import { migrationRoleQuery, roleSettingsQuery } from '../queries/roles.ts';
import type { PostgresqlQuery } from '../query.ts';
import { describeSetting, roleSettingFix, storedRoles } from '../settings.ts';

/**
 * The existing roles that are named in a stored setting `role` (ALTER ROLE or ALTER DATABASE … SET role), and whether
 * they are superusers.
 */
export const storedRolesQuery: PostgresqlQuery<ReadonlyMap<string, boolean>> = {
  id: 'stored-roles',
  scope: 'server',
  sql: () => `
    SELECT rolname, rolsuper
    FROM pg_roles
    WHERE rolname IN (
      SELECT substr(assignment, 6)
      FROM pg_db_role_setting s, unnest(s.setconfig) AS assignment
      WHERE left(assignment, 5) = 'role='
    )
  `,
  decode: (rows) => new Map(rows.map((row) => [decodeText(row, 'rolname'), decodeBoolean(row, 'rolsuper')])),
  absent: new Map(),
};

export const storedRoleCheck = declareServerCheck({
  id: 'stored-role',
  title: 'sessions of the role keep the privileges of the role',
  headline: 'Sessions of the role switch to another role',
  severity: { continuous: 'blocker', dump: 'warning' },
  queries: { roleSettings: roleSettingsQuery, stored: storedRolesQuery, role: migrationRoleQuery },
  evaluate({ roleSettings, stored, role }, facts) {
    const all = storedRoles(roleSettings, facts);
    const weaker = all.filter(({ value }) => value !== role.name && stored.get(value) === false);
    if (weaker.length === 0) return passOutcome('no other role');
    return failOutcome(['continuous'], `another role in ${weaker.length} of ${facts.databases.length} databases`, {
      required: 'no stored setting of role, or role = none',
      detail:
        'ALTER ROLE or ALTER DATABASE … SET role gives every session of the migration the privileges of another role: CREATE PUBLICATION, the replication slot or the copy of a table fails with "permission denied". The preflight does not use the stored role, so its other findings are those of the role that logs in.',
      objects: weaker.map(describeSetting),
      ...(weaker.length === facts.databases.length ? {} : { only: weaker.map(({ database }) => database) }),
      fix: roleSettingFix('role', 'none', weaker, role),
    });
  },
});
