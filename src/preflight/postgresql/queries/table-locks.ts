import { firstNormalObjectId } from '../../../postgresql/catalog-oids.ts';
import type { PostgresqlQuery } from '../query.ts';
import { decodeOptionalNumber, decodeText } from './decode.ts';
import { grantMonitorRole } from './grants.ts';

/** Somebody who keeps everybody else from reading a table. */
export interface TableLock {
  /** Quoted where it must be. */
  readonly table: string;
  /** undefined: a prepared transaction, which has no process. */
  readonly pid: number | undefined;
  /** Of a prepared transaction; empty: none. */
  readonly gid: string;
  /** Since its transaction began; undefined: hidden from this role. */
  readonly seconds: number | undefined;
}

/** Databases with such a lock: one look at all of them costs what one at each does. */
export const lockedDatabasesQuery: PostgresqlQuery<ReadonlySet<string>> = {
  id: 'locked-databases',
  scope: 'server',
  sql: () => `
    SELECT DISTINCT d.datname
    FROM pg_locks l
    JOIN pg_database d ON d.oid = l.database
    WHERE ${isTableLockSql}
  `,
  decode: (rows) => new Set(rows.map((row) => decodeText(row, 'datname'))),
  absent: new Set(),
  grant: grantMonitorRole,
};

/** What a transaction makes itself is nobody else's, and not in the catalogue that we see. */
export const tableLocksQuery: PostgresqlQuery<readonly TableLock[]> = {
  id: 'locks',
  scope: 'database',
  sql: () => `
    SELECT
      c.oid::regclass AS name,
      l.pid,
      p.gid,
      extract(epoch FROM now() - coalesce(a.xact_start, p.prepared))::bigint AS seconds
    FROM pg_locks l
    JOIN pg_class c ON c.oid = l.relation
    LEFT JOIN pg_stat_activity a ON a.pid = l.pid
    LEFT JOIN pg_prepared_xacts p
      ON l.pid IS NULL
        AND EXISTS (
          SELECT FROM pg_locks x
          WHERE x.pid IS NULL
            AND x.locktype = 'transactionid'
            AND x.transactionid = p.transaction
            AND x.virtualtransaction = l.virtualtransaction
        )
    WHERE ${isTableLockSql}
      AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
      AND (c.relkind = 'r' OR c.relkind = 'p' OR c.relkind = 'S')
    ORDER BY 1
    LIMIT 1000
  `,
  when: (known, dbname) => known(lockedDatabasesQuery)?.has(dbname) ?? true,
  decode: (rows) =>
    rows.map((row) => ({
      table: decodeText(row, 'name'),
      pid: decodeOptionalNumber(row, 'pid'),
      gid: decodeText(row, 'gid'),
      seconds: decodeOptionalNumber(row, 'seconds'),
    })),
  absent: [],
  grant: grantMonitorRole,
};

/** Held, on a relation of a person, against readers. */
const isTableLockSql = `
  l.mode = 'AccessExclusiveLock'
    AND l.granted
    AND l.locktype = 'relation'
    AND l.relation >= '${firstNormalObjectId}'
`;
