import { decodeTextColumn } from '../../../postgresql/decode-row.ts';
import type { PostgresqlPreflightQuery } from '../query.ts';

/** The values of synchronous_commit that ALTER ROLE and ALTER DATABASE store, for any role and database, as they were written. */
export const storedSynchronousCommitQuery: PostgresqlPreflightQuery<readonly string[]> = {
  id: 'stored-commit-modes',
  scope: 'server',
  sql: () => `
    SELECT DISTINCT substr(g.setting, 20) AS mode
    FROM pg_db_role_setting s
    CROSS JOIN LATERAL unnest(s.setconfig) g(setting)
    WHERE left(g.setting, 19) = 'synchronous_commit='
  `,
  decode: (rows) => rows.map((row) => decodeTextColumn(row, 'mode')),
  absent: [],
};
