import type { Ask } from '../ask.ts';
import { textIn, truthIn } from './decode.ts';
import { grantMonitor } from './grants.ts';

export interface Subscription {
  readonly database: string;
  readonly name: string;
  readonly enabled: boolean;
}

/** Of all databases: the catalogue is shared. How each connects is not public, so columns are named. */
export const subscriptions: Ask<readonly Subscription[]> = {
  id: 'subscriptions',
  scope: 'server',
  sql: (version) =>
    version < 100_000
      ? undefined
      : 'SELECT d.datname, s.subname, s.subenabled FROM pg_subscription s JOIN pg_database d ON d.oid = s.subdbid ORDER BY s.subname',
  decode: (rows) =>
    rows.map((row) => ({
      database: textIn(row, 'datname'),
      name: textIn(row, 'subname'),
      enabled: truthIn(row, 'subenabled'),
    })),
  absent: [],
  grant: grantMonitor,
};
