import type { Ask } from '../ask.ts';
import { textIn, textOrNone } from './decode.ts';
import { grantMonitor } from './grants.ts';

/** A process that sends WAL: a standby, a base backup, a change stream. */
export interface Sender {
  readonly user: string;
  readonly application: string;
  /** `sync`, `quorum`, `potential`, `async`; undefined: hidden from this role. */
  readonly syncState: string | undefined;
}

export const senders: Ask<readonly Sender[]> = {
  id: 'senders',
  scope: 'server',
  sql: () => 'SELECT usename, application_name, sync_state FROM pg_stat_replication',
  decode: (rows) =>
    rows.map((row) => ({
      user: textIn(row, 'usename'),
      application: textIn(row, 'application_name'),
      syncState: textOrNone(row, 'sync_state'),
    })),
  absent: [],
  grant: grantMonitor,
};
