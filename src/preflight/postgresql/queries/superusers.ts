import type { PostgresqlQuery } from '../query.ts';
import { decodeText } from './decode.ts';
import { grantMonitorRole } from './grants.ts';

/** Names of all superusers, including the superuser that initdb created. */
export const superusersQuery: PostgresqlQuery<readonly string[]> = {
  id: 'superusers',
  scope: 'server',
  sql: () => 'SELECT rolname FROM pg_roles WHERE rolsuper ORDER BY rolname',
  decode: (rows) => rows.map((row) => decodeText(row, 'rolname')),
  absent: [],
  grant: grantMonitorRole,
};
