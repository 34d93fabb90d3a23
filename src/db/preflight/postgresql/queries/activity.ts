import { formatDuration } from '../../../../base/text.ts';
import { firstNormalOid } from '../../../../postgresql/catalog-oids.ts';
import {
  decodeOptionalNumber,
  decodeOptionalText,
  decodeText,
  type PostgresqlRow,
} from '../../../../postgresql/rows.ts';
import { column, columns, type PostgresqlQuery, type RowOf, rowsQuery } from '../query.ts';

/** The sessions of one role that a restart of the server would end. The sessions of this program are left out. */
export type RoleSessions = RowOf<typeof sessionsQuery>;

export const sessionsQuery = rowsQuery({
  id: 'activity',
  scope: 'server',
  // Background workers such as the logical replication launcher have a user but no client.
  // pg_stat_activity.backend_type is NULL for a role without pg_monitor.
  sql: (version) => `
    SELECT usename, count(*) AS sessions, extract(epoch FROM max(now() - xact_start))::bigint AS seconds
    FROM pg_stat_activity
    WHERE usesysid IS NOT NULL${version < 100_000 ? '' : " AND coalesce(backend_type, 'client backend') IN ('client backend', 'walsender')"}
      AND pid <> pg_backend_pid()
      AND application_name <> 'cloudctl-preflight'
    GROUP BY usename
    ORDER BY count(*) DESC, usename
  `,
  row: columns({
    user: column.text('usename'),
    sessions: column.number('sessions'),
    /**
     * Seconds since the longest transaction of these sessions began; undefined if there is none, or if it is hidden from
     * this role.
     */
    seconds: column.optionalNumber('seconds'),
  }),
});

/** An open transaction that has written data. No replication slot can be created before such a transaction ends. */
export type OpenTransaction = RowOf<typeof transactionsQuery>;

export const transactionsQuery = rowsQuery({
  id: 'open-transactions',
  scope: 'server',
  sql: () => `
    SELECT
      'session' AS kind,
      pid::text AS id,
      datname AS database,
      usename::text AS owner,
      state,
      extract(epoch FROM now() - xact_start)::bigint AS seconds
    FROM pg_stat_activity
    WHERE backend_xid IS NOT NULL AND pid <> pg_backend_pid()
    UNION ALL
    SELECT
      'prepared',
      gid,
      database,
      owner::text,
      'prepared',
      extract(epoch FROM now() - prepared)::bigint
    FROM pg_prepared_xacts
  `,
  row: columns({
    kind: column.oneOf('kind', 'session', 'prepared'),
    /** Process id of a session, or the global identifier of a prepared transaction. */
    id: column.text('id'),
    database: column.text('database'),
    owner: column.text('owner'),
    /** State of the session, such as `idle in transaction`; empty if it is hidden from this role. */
    state: column.text('state'),
    /** Seconds since the transaction began; undefined if they are hidden from this role. */
    seconds: column.optionalNumber('seconds'),
  }),
});

/** An ACCESS EXCLUSIVE lock on a table, which blocks every reader. */
export type TableLock = RowOf<typeof tableLocksQuery>;

/**
 * The databases with an ACCESS EXCLUSIVE lock: one query for all databases costs as much as one query in a single
 * database.
 */
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
};

/**
 * Locks are matched with tables of pg_class, but other sessions cannot see a table that the locking transaction
 * created.
 */
export const tableLocksQuery = rowsQuery({
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
  when: (known, dbname) => known(lockedDatabasesQuery)?.has(dbname) ?? true,
  row: columns({
    /** Quoted when necessary. */
    table: column.text('name'),
    /** Process id of the session that holds the lock; undefined for a prepared transaction, which has none. */
    pid: column.optionalNumber('pid'),
    /** Global identifier of the prepared transaction that holds the lock; empty if a session holds it. */
    gid: column.text('gid'),
    /** Seconds since the transaction that holds the lock began; undefined if they are hidden from this role. */
    seconds: column.optionalNumber('seconds'),
  }),
});

/** SQL condition: a granted ACCESS EXCLUSIVE lock on a relation of a user. */
const isTableLockSql = `
  l.mode = 'AccessExclusiveLock'
    AND l.granted
    AND l.locktype = 'relation'
    AND l.relation >= '${firstNormalOid}'
`;

/** An ACCESS EXCLUSIVE lock on a system catalog, which blocks the login of every new session. */
export interface CatalogLock {
  readonly catalog: string;
  /** The database of the locked catalog; undefined for a catalog that all databases share. */
  readonly database: string | undefined;
  /** Process id of the session that holds the lock; undefined for a prepared transaction, which has none. */
  readonly pid: number | undefined;
  /** Seconds since the transaction that holds the lock began; undefined if they are hidden from this role. */
  readonly seconds: number | undefined;
}

/** System catalogs have the same OIDs in every database, so the query can run in any database. */
export const catalogLocksSql = `
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
    AND l.relation < '${firstNormalOid}'
  ORDER BY 1, 2, 3
  LIMIT 100
`;

export function decodeLocks(rows: readonly PostgresqlRow[]): readonly CatalogLock[] {
  return rows.map((row) => ({
    catalog: decodeText(row, 'catalog'),
    database: decodeOptionalText(row, 'database'),
    pid: decodeOptionalNumber(row, 'pid'),
    seconds: decodeOptionalNumber(row, 'seconds'),
  }));
}

export const catalogLocksQuery: PostgresqlQuery<readonly CatalogLock[]> = {
  id: 'catalog-locks',
  scope: 'server',
  sql: () => catalogLocksSql,
  decode: decodeLocks,
  absent: [],
};

/** Whether the lock blocks logins to this database. */
export function blocksDatabase({ database }: CatalogLock, name: string): boolean {
  return database === undefined || database === name;
}

/** Seconds after which a transaction is considered unlikely to end by itself. */
export const maxTransactionSeconds = 300;

export function describeTransaction({ kind, id, database, owner, state, seconds }: OpenTransaction): string {
  const what = kind === 'prepared' ? id : `pid ${id}`;
  const age = seconds === undefined ? 'age unknown' : `${formatDuration(seconds * 1000)} old`;
  return [`${what} in ${database} by ${owner}`, ...(kind === 'session' && state !== '' ? [state] : []), age].join(', ');
}
