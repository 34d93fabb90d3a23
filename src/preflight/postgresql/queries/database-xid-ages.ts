import { decodeNumberColumnOrZero, decodeTextColumn } from '../../../postgresql/decode-row.ts';
import type { PostgresqlPreflightQuery } from '../query.ts';

export interface DatabaseXidAge {
  readonly database: string;
  /** Transaction ids assigned since the oldest one that is not frozen. */
  readonly age: number;
}

/**
 * The databases with the oldest transaction ids, at most five, the oldest first. Only the oldest databases are
 * reported, because the wraparound limits apply to the whole server.
 */
export const oldestDatabaseXidAgesQuery: PostgresqlPreflightQuery<readonly DatabaseXidAge[]> = {
  id: 'transaction-ages',
  scope: 'server',
  sql: () => 'SELECT datname, age(datfrozenxid) AS age FROM pg_database ORDER BY 2 DESC, 1 LIMIT 5',
  decode: (rows) =>
    rows.map((row) => ({ database: decodeTextColumn(row, 'datname'), age: decodeNumberColumnOrZero(row, 'age') })),
  absent: [],
};
