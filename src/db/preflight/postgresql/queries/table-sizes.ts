import { firstNormalObjectId } from '../../../../postgresql/catalog-oids.ts';
import { decodeNumberColumnOrZero, decodeTextColumn } from '../../../../postgresql/decode-row.ts';
import type { PostgresqlPreflightQuery } from '../query.ts';
import { type DatabaseFeatureOverview, databaseFeatureOverviewQuery } from './database-overview.ts';

export interface TableSize {
  readonly database: string;
  /** Qualified. */
  readonly table: string;
  /** Bytes of the table with TOAST, without indexes. */
  readonly bytes: number;
  /** Number of rows, estimated by the last ANALYZE; -1: never analyzed. */
  readonly rows: number;
}

export interface TableSizeSummary {
  /** Bytes of the whole database, with indexes and system catalogs. */
  readonly databaseBytes: number;
  /** Bytes that the initial copy reads. */
  readonly bytes: number;
  readonly tables: number;
  /** The largest tables first, at most 20; empty for a database whose tables were not measured. */
  readonly largest: readonly TableSize[];
}

/**
 * Size in bytes up to which the tables of a database are not measured, because the copy takes no time worth estimating.
 */
const small = 16 * 1024 ** 2;

/** Approximate size of an empty database in bytes. */
const catalogue = 7.5e6;

/**
 * Measures the tables of a database that is not small, on disk. Measuring a table reads the size of one to four files,
 * so of more than 1,000 tables only the 20 largest by pg_class are measured. The size of a table with an exclusive lock
 * is estimated from pg_class too, because measuring would wait for the lock. undefined if the tables were not queried.
 */
export const tableSizeSummaryQuery: PostgresqlPreflightQuery<Pick<TableSizeSummary, 'bytes' | 'largest'> | undefined> =
  {
    id: 'table-sizes',
    scope: 'database',
    when: (known) => {
      const seen = known(databaseFeatureOverviewQuery);
      return seen === undefined || (seen.tables > 0 && seen.bytes > small);
    },
    sql: () => `
    WITH held AS (
      SELECT relation
      FROM pg_locks
      WHERE mode = 'AccessExclusiveLock'
        AND granted
        AND relation IS NOT NULL
    ),
    t AS (
      SELECT
        c.oid,
        n.nspname,
        c.relname,
        c.reltuples,
        c.relpages::bigint * current_setting('block_size')::bigint AS estimated,
        count(*) OVER () AS tables,
        row_number() OVER (ORDER BY c.relpages DESC) AS size_rank
      FROM pg_class c
      JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE c.relkind = 'r'
        AND c.relpersistence <> 't'
        AND c.oid >= ${firstNormalObjectId}
    ),
    s AS (
      SELECT
        t.*,
        CASE
          WHEN (t.tables <= 1000 OR t.size_rank <= 20) AND t.oid NOT IN (SELECT relation FROM held)
            THEN pg_table_size(t.oid)
          ELSE t.estimated
        END AS bytes
      FROM t
    )
    SELECT
      s.nspname,
      s.relname,
      s.reltuples::bigint AS rows,
      s.bytes,
      sum(s.bytes) OVER () AS total
    FROM s
    ORDER BY s.bytes DESC NULLS LAST, s.nspname, s.relname
    LIMIT 20
  `,
    decode: (rows) => ({
      bytes: decodeNumberColumnOrZero(rows[0] ?? {}, 'total'),
      largest: rows.map((row) => ({
        database: '',
        table: `${decodeTextColumn(row, 'nspname')}.${decodeTextColumn(row, 'relname')}`,
        bytes: decodeNumberColumnOrZero(row, 'bytes'),
        rows: decodeNumberColumnOrZero(row, 'rows'),
      })),
    }),
    absent: undefined,
  };

export function buildTableSizeSummary(
  { bytes, tables }: Pick<DatabaseFeatureOverview, 'bytes' | 'tables'>,
  found: Pick<TableSizeSummary, 'bytes' | 'largest'> | undefined,
): TableSizeSummary {
  const roughly = tables === 0 ? 0 : Math.max(0, bytes - catalogue);
  return {
    databaseBytes: bytes,
    // With more than 1,000 tables the size of the database is used, because the sum of the tables relies on old
    // estimates.
    bytes: found === undefined ? roughly : tables > 1000 ? Math.max(found.bytes, roughly) : found.bytes,
    tables,
    largest: found?.largest ?? [],
  };
}
