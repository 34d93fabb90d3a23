import { decodeBooleanColumn, decodeTextColumn } from '../../../postgresql/decode-row.ts';
import type { PostgresqlPreflightQuery } from '../query.ts';

/**
 * The existing roles that are named in a stored setting `role` (ALTER ROLE or ALTER DATABASE … SET role), and whether
 * they are superusers.
 */
export const rolesNamedInStoredSettingsQuery: PostgresqlPreflightQuery<ReadonlyMap<string, boolean>> = {
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
  decode: (rows) =>
    new Map(rows.map((row) => [decodeTextColumn(row, 'rolname'), decodeBooleanColumn(row, 'rolsuper')])),
  absent: new Map(),
};
