import type { Ask } from '../ask.ts';
import { numberIn, textIn, textOrNone } from './decode.ts';
import { grantMonitor } from './grants.ts';

export interface TableSize {
  readonly database: string;
  /** Qualified. */
  readonly table: string;
  /** With what is stored out of line, without indexes. */
  readonly bytes: number;
  /** As the last ANALYZE counted; -1: never. */
  readonly rows: number;
}

export interface Sizes {
  /** Of the whole database, indexes and catalogue included. */
  readonly databaseBytes: number;
  /** What has to be copied. */
  readonly bytes: number;
  readonly tables: number;
  /** Biggest first, twenty at most. */
  readonly largest: readonly TableSize[];
}

/**
 * Sizes of tables are read from disk only where it matters: a database under 16 MB is copied in no time, and beyond a
 * thousand tables only the twenty biggest by the catalogue are measured, because each costs a file or four. A table that
 * somebody holds exclusively is taken from the catalogue too: measuring it would wait for the lock.
 */
export const sizes: Ask<Sizes> = {
  id: 'sizes',
  scope: 'database',
  sql: () =>
    `WITH d AS (SELECT pg_database_size(current_database()) AS bytes), held AS (SELECT relation FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND granted AND relation IS NOT NULL),
t AS (SELECT c.oid, n.nspname, c.relname, c.reltuples, c.relpages::bigint * current_setting('block_size')::bigint AS told, count(*) OVER () AS tables, row_number() OVER (ORDER BY c.relpages DESC) AS place FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'r' AND c.relpersistence <> 't' AND c.oid >= 16384),
s AS (SELECT t.*, CASE WHEN d.bytes > 16777216 AND (t.tables <= 1000 OR t.place <= 20) AND t.oid NOT IN (SELECT relation FROM held) THEN pg_table_size(t.oid) ELSE t.told END AS bytes FROM t, d)
SELECT d.bytes AS database_bytes, b.nspname, b.relname, b.reltuples::bigint AS rows, b.bytes, b.tables, b.total FROM d LEFT JOIN (SELECT s.*, sum(s.bytes) OVER () AS total FROM s ORDER BY s.bytes DESC NULLS LAST, s.nspname, s.relname LIMIT 20) b ON true`,
  decode: (rows) => {
    const [first = {}] = rows;
    const databaseBytes = numberIn(first, 'database_bytes');
    const tables = numberIn(first, 'tables');
    const total = numberIn(first, 'total');
    return {
      databaseBytes,
      // Beyond a thousand tables the sum rests on old counts: the whole database is the safer number.
      bytes: tables > 1000 ? Math.max(total, databaseBytes) : total,
      tables,
      largest: rows
        .filter((row) => textOrNone(row, 'relname') !== undefined)
        .map((row) => ({
          database: '',
          table: `${textIn(row, 'nspname')}.${textIn(row, 'relname')}`,
          bytes: numberIn(row, 'bytes'),
          rows: numberIn(row, 'rows'),
        })),
    };
  },
  absent: { databaseBytes: 0, bytes: 0, tables: 0, largest: [] },
  grant: grantMonitor,
};
