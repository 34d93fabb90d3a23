import { decodeOptionalNumberColumn, decodeTextColumn } from '../../../../postgresql/decode-row.ts';
import type { PostgresqlPreflightQuery } from '../query.ts';

/** An open transaction that has written data. No replication slot can be created before such a transaction ends. */
export interface OpenTransactionWithWrites {
  readonly kind: 'session' | 'prepared';
  /** Process id of a session, or the global identifier of a prepared transaction. */
  readonly id: string;
  readonly database: string;
  readonly owner: string;
  /** State of the session, such as `idle in transaction`; empty if it is hidden from this role. */
  readonly state: string;
  /** Seconds since the transaction began; undefined if they are hidden from this role. */
  readonly seconds: number | undefined;
}

export const openTransactionsWithWritesQuery: PostgresqlPreflightQuery<readonly OpenTransactionWithWrites[]> = {
  id: 'open-transactions',
  scope: 'server',
  sql: () => `
    SELECT
      'session' AS kind,
      pid::text AS id,
      datname AS database,
      usename::text AS owner,
      state,
      extract(epoch FROM now() - xact_start)::bigint AS seconds
    FROM pg_stat_activity
    WHERE backend_xid IS NOT NULL AND pid <> pg_backend_pid()
    UNION ALL
    SELECT
      'prepared',
      gid,
      database,
      owner::text,
      'prepared',
      extract(epoch FROM now() - prepared)::bigint
    FROM pg_prepared_xacts
  `,
  decode: (rows) =>
    rows.map((row) => ({
      kind: row.kind === 'prepared' ? 'prepared' : 'session',
      id: decodeTextColumn(row, 'id'),
      database: decodeTextColumn(row, 'database'),
      owner: decodeTextColumn(row, 'owner'),
      state: decodeTextColumn(row, 'state'),
      seconds: decodeOptionalNumberColumn(row, 'seconds'),
    })),
  absent: [],
};
