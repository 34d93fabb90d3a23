import {
  decodeBooleanColumn,
  decodeNumberColumnOrZero,
  decodeOptionalNumberColumn,
  decodeTextArrayColumn,
  decodeTextColumn,
} from '../../../../postgresql/decode-row.ts';
import type { PostgresqlPreflightQuery } from '../query.ts';

/** The role that the migration logs in with. */
export interface MigrationRole {
  readonly name: string;
  readonly superuser: boolean;
  readonly replication: boolean;
  readonly bypassRls: boolean;
  /** Whether the role has INHERIT: it then has the privileges of the roles that it is a member of. */
  readonly inherits: boolean;
  /** -1: no limit. */
  readonly connectionLimit: number;
  /** Seconds until the password expires, negative if it has expired; undefined if it never expires. */
  readonly secondsLeft: number | undefined;
  /** Expiry time of the password, as the server formats it. */
  readonly validUntil: string;
  /**
   * Roles that the role is a member of, including itself. For a superuser the list contains only the roles that were
   * granted to it, not every role.
   */
  readonly memberOf: readonly string[];
}

export const migrationRoleQuery: PostgresqlPreflightQuery<MigrationRole> = {
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
  decode: ([row = {}]) => ({
    name: decodeTextColumn(row, 'rolname'),
    superuser: decodeBooleanColumn(row, 'rolsuper'),
    replication: decodeBooleanColumn(row, 'rolreplication'),
    bypassRls: decodeBooleanColumn(row, 'rolbypassrls'),
    inherits: decodeBooleanColumn(row, 'rolinherit'),
    connectionLimit: decodeNumberColumnOrZero(row, 'rolconnlimit'),
    secondsLeft: decodeOptionalNumberColumn(row, 'seconds_left'),
    validUntil: decodeTextColumn(row, 'valid_until'),
    memberOf: decodeTextArrayColumn(row, 'member_of'),
  }),
  absent: {
    name: '',
    superuser: false,
    replication: false,
    bypassRls: false,
    inherits: true,
    connectionLimit: -1,
    secondsLeft: undefined,
    validUntil: '',
    memberOf: [],
  },
};
