import { firstNormalOid } from '../../../postgresql/catalog-oids.ts';
import { quoteLiteral } from '../../../postgresql/quote.ts';
import {
  decodeNumber,
  decodeOptionalNumber,
  decodeOptionalText,
  decodeText,
  parseArray,
} from '../../../postgresql/rows.ts';
import type { ColumnDefinition, TableDefinitions, TableStatistics } from './facts.ts';
import type { WatchQuery } from './query.ts';

/** Statistics of permanent tables. Partitioned tables contain no rows themselves, so only their partitions count. */
export const tableStatsQuery: WatchQuery<readonly TableStatistics[]> = {
  id: 'tables',
  sql: (version) => `
    SELECT s.relid, s.schemaname, s.relname, s.seq_scan, s.seq_tup_read,
      ${version < 160_000 ? 'NULL' : 'extract(epoch FROM clock_timestamp() - s.last_seq_scan)'} AS scan_age,
      greatest(s.n_live_tup, c.reltuples::bigint, 0) AS live,
      s.n_tup_upd + s.n_tup_del AS changed, s.n_tup_ins AS inserted
    FROM pg_stat_user_tables s
    JOIN pg_class c ON c.oid = s.relid
    WHERE c.relkind = 'r' AND c.relpersistence = 'p'`,
  decode: (rows) =>
    rows.map((row) => ({
      oid: decodeNumber(row, 'relid'),
      name: `${decodeText(row, 'schemaname')}.${decodeText(row, 'relname')}`,
      seqScans: decodeNumber(row, 'seq_scan'),
      seqRows: decodeNumber(row, 'seq_tup_read'),
      rows: decodeNumber(row, 'live'),
      changed: decodeNumber(row, 'changed'),
      inserted: decodeNumber(row, 'inserted'),
      scanAge: decodeOptionalNumber(row, 'scan_age'),
    })),
  fallback: [],
};

/** The content of each publication as one text, which is only compared with the text of later polls. */
export const publicationsQuery: WatchQuery<ReadonlyMap<string, string>> = {
  id: 'publications',
  sql: (version) => {
    const truncate = version < 110_000 ? '' : ', p.pubtruncate';
    const root = version < 130_000 ? '' : ', p.pubviaroot';
    return `
      SELECT p.pubname,
        concat_ws(' ', p.puballtables, p.pubinsert, p.pubupdate, p.pubdelete${truncate}${root},
          CASE WHEN p.puballtables THEN ''
            ELSE (
              SELECT md5(string_agg(t.schemaname || '.' || t.tablename, ',' ORDER BY t.schemaname, t.tablename))
              FROM pg_publication_tables t
              WHERE t.pubname = p.pubname
            )
          END) AS content
      FROM pg_publication p`;
  },
  decode: (rows) => new Map(rows.map((row) => [decodeText(row, 'pubname'), decodeText(row, 'content')])),
  fallback: new Map(),
};

const userTables = `c.relkind IN ('r', 'p') AND c.relpersistence = 'p'
        AND c.oid >= ${firstNormalOid} AND n.nspname !~ '^pg_'`;

/** Columns and replica identity of all user tables. A sum of hashes does not depend on the order, so no sort is needed. */
export const tableDefinitionsQuery: WatchQuery<TableDefinitions> = {
  id: 'shapes',
  sql: (version) => {
    const hash = version < 110_000 ? 'hashtext(' : 'hashtextextended(';
    const end = version < 110_000 ? ')' : ', 0)';
    return `
      SELECT n.nspname, c.relname, c.relreplident::text AS identity,
        (
          SELECT sum(${hash}concat_ws(':', a.attname, a.atttypid, a.atttypmod, a.attnotnull)${end}::numeric)
          FROM pg_attribute a
          WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
        ) AS columns,
        (
          SELECT array_agg(a.attname::text ORDER BY a.attnum)::text
          FROM pg_index i
          JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)
          WHERE i.indrelid = c.oid
            AND ((c.relreplident = 'd' AND i.indisprimary) OR (c.relreplident = 'i' AND i.indisreplident))
        ) AS key
      FROM pg_class c
      JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE ${userTables}`;
  },
  decode: (rows) =>
    new Map(
      rows.map((row) => {
        const [schema, table] = [decodeText(row, 'nspname'), decodeText(row, 'relname')];
        const [identity, keyColumns] = [decodeText(row, 'identity'), readNames(decodeOptionalText(row, 'key'))];
        const hasReplicaIdentity = identity === 'f' || keyColumns.length > 0;
        const shape = {
          schema,
          table,
          columns: decodeText(row, 'columns'),
          identity,
          keyColumns,
          hasReplicaIdentity,
        };
        return [`${schema}.${table}`, shape];
      }),
    ),
  fallback: new Map(),
};

/** Names and types of the columns of these tables (`schema.table`); undefined: of the first 2,000 tables. */
export function tableColumnsQuery(
  tables: readonly string[] | undefined,
): WatchQuery<ReadonlyMap<string, readonly ColumnDefinition[]>> {
  const chosen =
    tables === undefined
      ? ''
      : `AND n.nspname || '.' || c.relname IN (${tables.map((name) => `${quoteLiteral(name)}::text`).join(', ')})`;
  return {
    id: 'columns',
    sql: () => `
      SELECT n.nspname, c.relname,
        array_agg(ARRAY[a.attname::text, format_type(a.atttypid, a.atttypmod), a.attnotnull::text] ORDER BY a.attnum)::text AS columns
      FROM pg_class c
      JOIN pg_namespace n ON n.oid = c.relnamespace
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
      WHERE ${userTables} ${chosen}
      GROUP BY n.nspname, c.relname
      ORDER BY n.nspname, c.relname
      LIMIT 2000`,
    decode: (rows) =>
      new Map(
        rows.map((row) => [
          `${decodeText(row, 'nspname')}.${decodeText(row, 'relname')}`,
          readColumnShapes(readNames(decodeOptionalText(row, 'columns'))),
        ]),
      ),
    fallback: new Map(),
  };
}

/**
 * Bytes on disk of the 1,000 largest tables. For other tables, and tables with an ACCESS EXCLUSIVE lock, the query
 * returns the estimate in pg_class.
 */
export const tableSizesQuery: WatchQuery<ReadonlyMap<number, number>> = {
  id: 'sizes',
  sql: () => `
    WITH locked AS (
      SELECT relation FROM pg_locks
      WHERE mode = 'AccessExclusiveLock' AND granted AND relation IS NOT NULL
    ), ranked AS (
      SELECT c.oid,
        c.relpages::bigint * current_setting('block_size')::bigint AS estimate,
        row_number() OVER (ORDER BY c.relpages DESC) AS rank
      FROM pg_class c
      WHERE c.relkind = 'r' AND c.relpersistence = 'p' AND c.oid >= ${firstNormalOid}
    )
    SELECT oid,
      CASE WHEN rank <= 1000 AND oid NOT IN (SELECT relation FROM locked) THEN pg_table_size(oid) ELSE estimate END AS bytes
    FROM ranked`,
  decode: (rows) => new Map(rows.map((row) => [decodeNumber(row, 'oid'), decodeNumber(row, 'bytes')])),
  fallback: new Map(),
};

function readNames(array: string | undefined): readonly string[] {
  return array === undefined ? [] : parseArray(array).flatMap((name) => name ?? []);
}

/** @param texts name, type and attnotnull of each column */
function readColumnShapes(texts: readonly string[]): readonly ColumnDefinition[] {
  return Array.from({ length: texts.length / 3 }, (_, at) => {
    const [name = '', type = '', notNull] = texts.slice(3 * at);
    return { name, type, notNull: notNull === 'true' };
  });
}
