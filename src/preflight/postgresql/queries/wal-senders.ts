import type { PostgresqlQuery } from '../query.ts';
import { decodeOptionalText, decodeText } from './decode.ts';
import { grantMonitorRole } from './grants.ts';

/** A WAL sender: of a standby, a base backup or logical replication. */
export interface WalSender {
  readonly user: string;
  readonly application: string;
  /** `sync`, `quorum`, `potential` or `async`; undefined: hidden from this role. */
  readonly syncState: string | undefined;
}

export const walSendersQuery: PostgresqlQuery<readonly WalSender[]> = {
  id: 'wal-senders',
  scope: 'server',
  sql: () => 'SELECT usename, application_name, sync_state FROM pg_stat_replication',
  decode: (rows) =>
    rows.map((row) => ({
      user: decodeText(row, 'usename'),
      application: decodeText(row, 'application_name'),
      syncState: decodeOptionalText(row, 'sync_state'),
    })),
  absent: [],
  grant: grantMonitorRole,
};
