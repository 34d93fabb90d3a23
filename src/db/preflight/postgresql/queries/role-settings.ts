import { decodeOptionalTextColumn, decodeTextColumn } from '../../../../postgresql/decode-row.ts';
import type { PostgresqlPreflightQuery } from '../query.ts';

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

export const roleSettingsQuery: PostgresqlPreflightQuery<readonly RoleSetting[]> = {
  id: 'role-settings',
  scope: 'server',
  sql: () => `
    SELECT d.datname AS database, r.rolname AS role, unnest(s.setconfig) AS assignment
    FROM pg_db_role_setting s
    LEFT JOIN pg_database d ON d.oid = s.setdatabase
    LEFT JOIN pg_roles r ON r.oid = s.setrole
    WHERE s.setrole = 0 OR r.rolname = current_user
  `,
  decode: (rows) =>
    rows.map((row) => {
      const assignment = decodeTextColumn(row, 'assignment');
      const at = assignment.indexOf('=');
      return {
        database: decodeOptionalTextColumn(row, 'database'),
        role: decodeOptionalTextColumn(row, 'role'),
        name: assignment.slice(0, at),
        value: assignment.slice(at + 1),
      };
    }),
  absent: [],
};
