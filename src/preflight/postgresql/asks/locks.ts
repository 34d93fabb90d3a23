import type { Ask } from '../ask.ts';
import { numberOrNone, textIn } from './decode.ts';
import { grantMonitor } from './grants.ts';
import { closing, where } from './overview.ts';

/** Somebody who keeps everybody else from reading a table. */
export interface Lock {
  /** Quoted where it must be. */
  readonly table: string;
  /** undefined: a prepared transaction, which has no process. */
  readonly pid: number | undefined;
  /** Of a prepared transaction; empty: none. */
  readonly gid: string;
  /** Since its transaction began; undefined: hidden from this role. */
  readonly seconds: number | undefined;
}

/** What a transaction makes itself is nobody else's, and not in the catalogue that we see. */
export const locks: Ask<readonly Lock[]> = {
  id: 'locks',
  scope: 'database',
  sql: () =>
    `SELECT c.oid::regclass AS name, l.pid, p.gid, extract(epoch FROM now() - coalesce(a.xact_start, p.prepared))::bigint AS seconds FROM pg_locks l JOIN pg_class c ON c.oid = l.relation LEFT JOIN pg_stat_activity a ON a.pid = l.pid LEFT JOIN pg_prepared_xacts p ON l.pid IS NULL AND EXISTS (SELECT FROM pg_locks x WHERE x.pid IS NULL AND x.locktype = 'transactionid' AND x.transactionid = p.transaction AND x.virtualtransaction = l.virtualtransaction) WHERE ${closing} AND (c.relkind = 'r' OR c.relkind = 'p' OR c.relkind = 'S') ORDER BY 1 LIMIT 1000`,
  when: where('locks'),
  decode: (rows) =>
    rows.map((row) => ({
      table: textIn(row, 'name'),
      pid: numberOrNone(row, 'pid'),
      gid: textIn(row, 'gid'),
      seconds: numberOrNone(row, 'seconds'),
    })),
  absent: [],
  grant: grantMonitor,
};
