import { firstNormalObjectId } from '../../../postgresql/catalog-oids.ts';
import type { PostgresqlRow } from '../../../postgresql/postgresql-row.ts';
import type { PostgresqlPreflightQuery } from '../query.ts';
import { decodeOptionalNumberColumn, decodeOptionalTextColumn, decodeTextColumn } from './decode.ts';
import { buildGrantMonitorRoleStatement } from './grants.ts';

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
  grant: buildGrantMonitorRoleStatement,
};

/** Whether the lock blocks logins to this database. */
export function isDatabaseBlockedByLock({ database }: AccessExclusiveCatalogLock, name: string): boolean {
  return database === undefined || database === name;
}

/** `Process 4711 holds an ACCESS EXCLUSIVE lock on pg_class for 32 s.`, with the statement that ends it. */
export function explainAccessExclusiveCatalogLocks(
  locks: readonly AccessExclusiveCatalogLock[],
): { readonly detail: string; readonly text: string } | undefined {
  const [first] = locks;
  if (first === undefined) return undefined;
  const { pid, catalog, seconds } = first;
  const since = seconds === undefined ? '' : `, in a transaction that is open for ${seconds} s`;
  const detail = `${pid === undefined ? 'A prepared transaction' : `Process ${pid}`} holds an ACCESS EXCLUSIVE lock on ${catalog}${since}. Every new session waits for this lock during the login.`;
  const text =
    pid === undefined
      ? 'End the transaction: SELECT gid FROM pg_prepared_xacts, then COMMIT PREPARED or ROLLBACK PREPARED.'
      : `Wait for its transaction, or end it from another database: SELECT pg_terminate_backend(${pid}).`;
  return { detail, text };
}
