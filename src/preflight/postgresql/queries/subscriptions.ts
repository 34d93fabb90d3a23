import { decodeBooleanColumn, decodeTextColumn } from '../../../postgresql/decode-row.ts';
import type { PostgresqlPreflightQuery } from '../query.ts';

export interface Subscription {
  readonly database: string;
  readonly name: string;
  readonly enabled: boolean;
}

/**
 * The subscriptions of all databases, because pg_subscription is a shared catalog. The query names each column that it
 * needs instead of `*`, because ordinary roles cannot read the column subconninfo.
 */
export const subscriptionsQuery: PostgresqlPreflightQuery<readonly Subscription[]> = {
  id: 'subscriptions',
  scope: 'server',
  sql: (version) =>
    version < 100_000
      ? undefined
      : `
        SELECT d.datname, s.subname, s.subenabled
        FROM pg_subscription s
        JOIN pg_database d ON d.oid = s.subdbid
        ORDER BY s.subname
      `,
  decode: (rows) =>
    rows.map((row) => ({
      database: decodeTextColumn(row, 'datname'),
      name: decodeTextColumn(row, 'subname'),
      enabled: decodeBooleanColumn(row, 'subenabled'),
    })),
  absent: [],
};
