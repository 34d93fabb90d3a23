import { firstNormalObjectId } from '../../../../postgresql/catalog-oids.ts';
import { decodeOptionalNumberColumn, decodeTextColumn } from '../../../../postgresql/decode-row.ts';
import type { PostgresqlPreflightQuery } from '../query.ts';

/** An ACCESS EXCLUSIVE lock on a table, which blocks every reader. */
export interface AccessExclusiveTableLock {
  /** Quoted when necessary. */
  readonly table: string;
  /** Process id of the session that holds the lock; undefined for a prepared transaction, which has none. */
  readonly pid: number | undefined;
  /** Global identifier of the prepared transaction that holds the lock; empty if a session holds it. */
  readonly gid: string;
  /** Seconds since the transaction that holds the lock began; undefined if they are hidden from this role. */
  readonly seconds: number | undefined;
}

/**
 * The databases with an ACCESS EXCLUSIVE lock: one query for all databases costs as much as one query in a single
 * database.
 */
export const databasesWithAccessExclusiveLocksQuery: PostgresqlPreflightQuery<ReadonlySet<string>> = {
  id: 'locked-databases',
  scope: 'server',
  sql: () => `
    SELECT DISTINCT d.datname
    FROM pg_locks l
    JOIN pg_database d ON d.oid = l.database
    WHERE ${isTableLockSql}
  `,
  decode: (rows) => new Set(rows.map((row) => decodeTextColumn(row, 'datname'))),
  absent: new Set(),
};

/**
 * Locks are matched with tables of pg_class, but other sessions cannot see a table that the locking transaction
 * created.
 */
export const accessExclusiveTableLocksQuery: PostgresqlPreflightQuery<readonly AccessExclusiveTableLock[]> = {
  id: 'table-locks',
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
  when: (known, dbname) => known(databasesWithAccessExclusiveLocksQuery)?.has(dbname) ?? true,
  decode: (rows) =>
    rows.map((row) => ({
      table: decodeTextColumn(row, 'name'),
      pid: decodeOptionalNumberColumn(row, 'pid'),
      gid: decodeTextColumn(row, 'gid'),
      seconds: decodeOptionalNumberColumn(row, 'seconds'),
    })),
  absent: [],
};

/** SQL condition: a granted ACCESS EXCLUSIVE lock on a relation of a user. */
const isTableLockSql = `
  l.mode = 'AccessExclusiveLock'
    AND l.granted
    AND l.locktype = 'relation'
    AND l.relation >= '${firstNormalObjectId}'
`;
