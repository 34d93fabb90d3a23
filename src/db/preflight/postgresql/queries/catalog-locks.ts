import { firstNormalObjectId } from '../../../../postgresql/catalog-oids.ts';
import {
  decodeOptionalNumberColumn,
  decodeOptionalTextColumn,
  decodeTextColumn,
} from '../../../../postgresql/decode-row.ts';
import type { PostgresqlRow } from '../../../../postgresql/postgresql-row.ts';
import type { PostgresqlPreflightQuery } from '../query.ts';

/** An ACCESS EXCLUSIVE lock on a system catalog, which blocks the login of every new session. */
export interface AccessExclusiveCatalogLock {
  readonly catalog: string;
  /** The database of the locked catalog; undefined for a catalog that all databases share. */
  readonly database: string | undefined;
  /** Process id of the session that holds the lock; undefined for a prepared transaction, which has none. */
  readonly pid: number | undefined;
  /** Seconds since the transaction that holds the lock began; undefined if they are hidden from this role. */
  readonly seconds: number | undefined;
}

/** System catalogs have the same OIDs in every database, so the query can run in any database. */
export const accessExclusiveCatalogLocksSql = `
  SELECT
    l.relation::regclass AS catalog,
    d.datname AS database,
    l.pid,
    extract(epoch FROM now() - a.xact_start)::bigint AS seconds
  FROM pg_locks l
  LEFT JOIN pg_database d ON d.oid = l.database
  LEFT JOIN pg_stat_activity a ON a.pid = l.pid
  WHERE l.mode = 'AccessExclusiveLock'
    AND l.granted
    AND l.locktype = 'relation'
    AND l.relation < '${firstNormalObjectId}'
  ORDER BY 1, 2, 3
  LIMIT 100
`;

export function decodeAccessExclusiveCatalogLocks(
  rows: readonly PostgresqlRow[],
): readonly AccessExclusiveCatalogLock[] {
  return rows.map((row) => ({
    catalog: decodeTextColumn(row, 'catalog'),
    database: decodeOptionalTextColumn(row, 'database'),
    pid: decodeOptionalNumberColumn(row, 'pid'),
    seconds: decodeOptionalNumberColumn(row, 'seconds'),
  }));
}

export const accessExclusiveCatalogLocksQuery: PostgresqlPreflightQuery<readonly AccessExclusiveCatalogLock[]> = {
  id: 'catalog-locks',
  scope: 'server',
  sql: () => accessExclusiveCatalogLocksSql,
  decode: decodeAccessExclusiveCatalogLocks,
  absent: [],
};

/** Whether the lock blocks logins to this database. */
export function isDatabaseBlockedByLock({ database }: AccessExclusiveCatalogLock, name: string): boolean {
  return database === undefined || database === name;
}
