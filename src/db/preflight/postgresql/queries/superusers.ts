import { decodeTextColumn } from '../../../../postgresql/decode-row.ts';
import type { PostgresqlPreflightQuery } from '../query.ts';

/** Names of all superusers, including the superuser that initdb created. */
export const superusersQuery: PostgresqlPreflightQuery<readonly string[]> = {
  id: 'superusers',
  scope: 'server',
  sql: () => 'SELECT rolname FROM pg_roles WHERE rolsuper ORDER BY rolname',
  decode: (rows) => rows.map((row) => decodeTextColumn(row, 'rolname')),
  absent: [],
};
