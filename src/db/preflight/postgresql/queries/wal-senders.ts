import { decodeOptionalTextColumn, decodeTextColumn } from '../../../../postgresql/decode-row.ts';
import type { PostgresqlPreflightQuery } from '../query.ts';

/** A WAL sender process, which serves a standby, a base backup or logical replication. */
export interface WalSender {
  readonly user: string;
  readonly application: string;
  /**
   * pg_stat_replication.sync_state: `sync`, `quorum`, `potential` or `async`; undefined if it is hidden from this role.
   */
  readonly syncState: string | undefined;
}

export const walSendersQuery: PostgresqlPreflightQuery<readonly WalSender[]> = {
  id: 'wal-senders',
  scope: 'server',
  sql: () => 'SELECT usename, application_name, sync_state FROM pg_stat_replication',
  decode: (rows) =>
    rows.map((row) => ({
      user: decodeTextColumn(row, 'usename'),
      application: decodeTextColumn(row, 'application_name'),
      syncState: decodeOptionalTextColumn(row, 'sync_state'),
    })),
  absent: [],
};
