import { firstNormalOid } from '../../../../postgresql/catalog-oids.ts';
import { decodeOptionalText, decodeText } from '../../../../postgresql/rows.ts';
import { column, columns, type PostgresqlQuery, rowQuery, rowsQuery, type ValueOf } from '../query.ts';

/** The role that the migration logs in with. */
export type MigrationRole = ValueOf<typeof migrationRoleQuery>;

export const migrationRoleQuery = rowQuery({
  id: 'migration-role',
  scope: 'server',
  sql: () => `
    WITH RECURSIVE mine(oid) AS (
      SELECT oid
      FROM pg_roles
      WHERE rolname = current_user
      UNION
      SELECT m.roleid
      FROM pg_auth_members m
      JOIN mine ON m.member = mine.oid
    )
    SELECT
      rolname,
      rolsuper,
      rolreplication,
      rolbypassrls,
      rolinherit,
      rolconnlimit,
      rolvaliduntil::text AS valid_until,
      CASE
        WHEN rolvaliduntil = '-infinity' THEN -1
        WHEN isfinite(rolvaliduntil) THEN extract(epoch FROM rolvaliduntil - now())::bigint
      END AS seconds_left,
      (SELECT array_agg(r.rolname ORDER BY r.rolname) FROM mine JOIN pg_roles r USING (oid)) AS member_of
    FROM pg_roles
    WHERE rolname = current_user
  `,
  row: columns({
    name: column.text('rolname'),
    superuser: column.boolean('rolsuper'),
    replication: column.boolean('rolreplication'),
    bypassRls: column.boolean('rolbypassrls'),
    /** Whether the role has INHERIT: it then has the privileges of the roles that it is a member of. */
    inherits: column.boolean('rolinherit'),
    /** -1: no limit. */
    connectionLimit: column.number('rolconnlimit'),
    /** Seconds until the password expires, negative if it has expired; undefined if it never expires. */
    secondsLeft: column.optionalNumber('seconds_left'),
    /** Expiry time of the password, as the server formats it. */
    validUntil: column.text('valid_until'),
    /**
     * Roles that the role is a member of, including itself. For a superuser the list contains only the roles that were
     * granted to it, not every role.
     */
    memberOf: column.texts('member_of'),
  }),
});

/** A role of a user that can log in, or has an attribute that the target does not give to it. */
export const userRolesQuery = rowsQuery({
  id: 'login-roles',
  scope: 'server',
  sql: () => `
    SELECT
      rolname,
      rolsuper,
      rolcanlogin,
      array_remove(
        ARRAY[CASE WHEN rolreplication THEN 'REPLICATION' END, CASE WHEN rolbypassrls THEN 'BYPASSRLS' END],
        NULL
      ) AS attributes
    FROM pg_roles
    WHERE oid >= ${firstNormalOid} AND (rolsuper OR rolcanlogin OR rolreplication OR rolbypassrls)
    ORDER BY rolname
  `,
  row: columns({
    name: column.text('rolname'),
    superuser: column.boolean('rolsuper'),
    canLogin: column.boolean('rolcanlogin'),
    /** REPLICATION and BYPASSRLS, as ALTER ROLE writes them. */
    attributes: column.texts('attributes'),
  }),
});

/** Names of all superusers, including the superuser that initdb created. */
export const superusersQuery = rowsQuery({
  id: 'superusers',
  scope: 'server',
  sql: () => 'SELECT rolname FROM pg_roles WHERE rolsuper ORDER BY rolname',
  row: column.text('rolname'),
});

/**
 * A setting of ALTER ROLE … SET or ALTER DATABASE … SET; `role` or `database` is undefined if the setting applies to
 * all.
 */
export interface RoleSetting {
  readonly database: string | undefined;
  readonly role: string | undefined;
  readonly name: string;
  readonly value: string;
}

/** Settings that change how a value is read from a text or written to one, and the values that a target has. */
const textSettings: Readonly<Record<string, RegExp>> = {
  array_nulls: /^on$/,
  bytea_output: /^hex$/,
  datestyle: /^(?:iso(?:, *mdy)?|mdy, *iso)$/i,
  default_text_search_config: /^(?:pg_catalog\.)?(?:english|simple)$/,
  extra_float_digits: /^[1-3]$/,
  intervalstyle: /^postgres$/i,
  quote_all_identifiers: /^off$/,
  timezone: /^(?:etc\/)?(?:utc|uct|gmt|universal|zulu|greenwich)$/i,
  timezone_abbreviations: /^default$/i,
  transform_null_equals: /^off$/,
  xmlbinary: /^base64$/i,
};

/** Such settings of other roles than the one that migrates: an application stored its rows with them. */
export const otherRolesTextSettingsQuery: PostgresqlQuery<readonly RoleSetting[]> = {
  id: 'other-roles-text-settings',
  scope: 'server',
  sql: () => `
    SELECT d.datname AS database, r.rolname AS role, lower(split_part(a, '=', 1)) AS name, substr(a, strpos(a, '=') + 1) AS value
    FROM pg_db_role_setting s
    CROSS JOIN LATERAL unnest(s.setconfig) a
    JOIN pg_roles r ON r.oid = s.setrole
    LEFT JOIN pg_database d ON d.oid = s.setdatabase
    WHERE r.rolname <> current_user
      AND lower(split_part(a, '=', 1)) IN (${Object.keys(textSettings)
        .map((name) => `'${name}'`)
        .join(', ')})
  `,
  decode: (rows) =>
    rows.flatMap((row) => {
      const [name, value] = [decodeText(row, 'name'), decodeText(row, 'value')];
      const [database, role] = [decodeOptionalText(row, 'database'), decodeOptionalText(row, 'role')];
      return textSettings[name]?.test(value) === true ? [] : [{ database, role, name, value }];
    }),
  absent: [],
};

export const roleSettingsQuery = rowsQuery<RoleSetting>({
  id: 'role-settings',
  scope: 'server',
  sql: () => `
    SELECT d.datname AS database, r.rolname AS role, unnest(s.setconfig) AS assignment
    FROM pg_db_role_setting s
    LEFT JOIN pg_database d ON d.oid = s.setdatabase
    LEFT JOIN pg_roles r ON r.oid = s.setrole
    WHERE s.setrole = 0 OR r.rolname = current_user
  `,
  row: (row) => {
    const assignment = decodeText(row, 'assignment');
    const at = assignment.indexOf('=');
    return {
      database: decodeOptionalText(row, 'database'),
      role: decodeOptionalText(row, 'role'),
      name: assignment.slice(0, at),
      value: assignment.slice(at + 1),
    };
  },
});
