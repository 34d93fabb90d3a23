import { catalogOids, firstNormalOid, typeOids } from '../../../../postgresql/catalog-oids.ts';
import { decodeBoolean, decodeNumber, decodeText, type PostgresqlRow } from '../../../../postgresql/rows.ts';
import { isCopiedSql } from '../../../../postgresql/table-rows.ts';
import { column, columns, type PostgresqlQuery, type RowOf, rowsQuery } from '../query.ts';
import { lockedRelationsSql } from './catalog-predicates.ts';
import { type FeatureOverview, featureCondition, featuresQuery, narrowColumns } from './database-overview.ts';
import { hasRowsSql } from './function-uses.ts';

export interface TableSize {
  readonly database: string;
  /** Qualified. */
  readonly table: string;
  /** Bytes of the table with TOAST, without indexes. */
  readonly bytes: number;
  /** Number of rows, estimated by the last ANALYZE; -1: never analyzed. */
  readonly rows: number;
}

export interface SizeSummary {
  /** Bytes of the whole database, with indexes and system catalogs. */
  readonly databaseBytes: number;
  /** Bytes that the initial copy reads. */
  readonly bytes: number;
  readonly tables: number;
  /** The largest tables first, at most 20; empty for a database whose tables were not measured. */
  readonly largest: readonly TableSize[];
  readonly locks: DumpLocks;
}

/** Number of relations that pg_dump locks in its transaction. */
export interface DumpLocks {
  /** With --schema-only. */
  readonly schema: number;
  /** In a dump with rows, which reads the sequences too. */
  readonly all: number;
  /** Relations that a restore creates, with indexes; undefined if not counted. */
  readonly created?: number | undefined;
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
export const sizesQuery: PostgresqlQuery<Pick<SizeSummary, 'bytes' | 'largest'> | undefined> = {
  id: 'table-sizes',
  scope: 'database',
  when: (known) => {
    const seen = known(featuresQuery);
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
        AND c.oid >= ${firstNormalOid}
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
    bytes: decodeNumber(rows[0] ?? {}, 'total'),
    largest: rows.map((row) => ({
      database: '',
      table: `${decodeText(row, 'nspname')}.${decodeText(row, 'relname')}`,
      bytes: decodeNumber(row, 'bytes'),
      rows: decodeNumber(row, 'rows'),
    })),
  }),
  absent: undefined,
};

/** Up to so many tables, views and sequences all are counted as locked. */
const fewRelations = 500;

/**
 * pg_dump locks every table. To write out the query of a view, a rule, a policy or a function the server locks all
 * relations in it, and before PostgreSQL 16 the view itself. Since PostgreSQL 18 sequences are read without a lock.
 */
export const dumpLocksQuery: PostgresqlQuery<DumpLocks | undefined> = {
  id: 'locked-relations',
  scope: 'database',
  when: (known) => {
    const seen = known(featuresQuery);
    return seen === undefined || seen.relations + seen.sequences > fewRelations;
  },
  sql: (version) => {
    const kinds = ['r', 'p', ...(version < 160_000 ? ['v', 'm'] : [])].map((kind) => `'${kind}'`);
    const { pg_class, pg_policy, pg_proc, pg_rewrite } = catalogOids;
    return `
      SELECT
        count(*) FILTER (WHERE c.is_read) AS schema,
        count(*) FILTER (WHERE c.is_read${version < 180_000 ? " OR c.relkind = 'S'" : ''}) AS whole,
        count(*) AS created
      FROM (
        SELECT
          c.relkind,
          c.relkind IN (${kinds.join(', ')}) OR (c.relkind IN ('v', 'm', 'f', 'S') AND c.oid IN (
            SELECT d.refobjid
            FROM pg_depend d
            WHERE d.refclassid = '${pg_class}'
              AND d.classid IN ('${pg_rewrite}', '${pg_policy}', '${pg_proc}')
              AND d.deptype <> 'i'
          )) AS is_read
        FROM pg_class c
        WHERE c.oid >= '${firstNormalOid}'
          AND c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S', 'i', 'I', 't')
          AND c.relpersistence <> 't'
      ) c
    `;
  },
  decode: ([row = {}]) => ({
    schema: decodeNumber(row, 'schema'),
    all: decodeNumber(row, 'whole'),
    created: decodeNumber(row, 'created'),
  }),
  absent: undefined,
};

export function summarizeSizes(
  { bytes, tables, relations, sequences }: Omit<FeatureOverview, 'present'>,
  found: Pick<SizeSummary, 'bytes' | 'largest'> | undefined,
  locks: DumpLocks | undefined,
): SizeSummary {
  const roughly = tables === 0 ? 0 : Math.max(0, bytes - catalogue);
  return {
    databaseBytes: bytes,
    // With more than 1,000 tables the size of the database is used, because the sum of the tables relies on old
    // estimates.
    bytes: found === undefined ? roughly : tables > 1000 ? Math.max(found.bytes, roughly) : found.bytes,
    tables,
    largest: found?.largest ?? [],
    // Without the number of locks, that of the tables is the least.
    locks:
      locks ??
      (relations + sequences > fewRelations
        ? { schema: tables, all: tables }
        : { schema: relations, all: relations + sequences }),
  };
}

/** A table whose rows `--deep` reads. */
export interface ScannedTable {
  readonly oid: number;
  /** Qualified and quoted. */
  readonly table: string;
  /** Names as the system catalogs store them, without quotation marks. */
  readonly schema: string;
  readonly name: string;
  /** The copied columns, by number. */
  readonly columns: ReadonlyMap<number, string>;
  /** Row-level security policies apply to the role on this table, so the server refuses COPY. */
  readonly isSecured: boolean;
}

/**
 * The ordinary tables (not the partitioned ones) that a migration copies, including tables of extensions. The query is
 * sent only with `--deep`.
 */
export const scannedTablesQuery: PostgresqlQuery<readonly ScannedTable[]> = {
  id: 'tables-to-read',
  scope: 'database',
  sql: (version) => `
    SELECT
      c.oid,
      n.nspname,
      c.relname,
      quote_ident(n.nspname) || '.' || quote_ident(c.relname) AS name,
      row_security_active(c.oid) AS secured,
      a.attnum,
      a.attname
    FROM pg_class c
    JOIN pg_namespace n ON n.oid = c.relnamespace
    LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND ${isCopiedSql(version)}
    WHERE c.oid >= '${firstNormalOid}'
      AND c.relkind = 'r'
      AND c.relpersistence <> 't'
    ORDER BY n.nspname, c.relname, c.oid, a.attnum
  `,
  decode(rows) {
    const tables = new Map<number, ScannedTable & { readonly columns: Map<number, string> }>();
    for (const row of rows) {
      const oid = decodeNumber(row, 'oid');
      const table = tables.get(oid) ?? {
        oid,
        table: decodeText(row, 'name'),
        schema: decodeIdentifier(row, 'nspname'),
        name: decodeIdentifier(row, 'relname'),
        columns: new Map<number, string>(),
        isSecured: decodeBoolean(row, 'secured'),
      };
      tables.set(oid, table);
      if (row.attnum != null) table.columns.set(decodeNumber(row, 'attnum'), decodeIdentifier(row, 'attname'));
    }
    return [...tables.values()];
  },
  absent: [],
};

/** Throws for a text that cannot be a name, so that the query result counts as malformed. */
function decodeIdentifier(row: PostgresqlRow, column: string): string {
  const name = decodeText(row, column);
  if (name === '' || name.includes('\0')) throw new TypeError('the server did not return a name');
  return name;
}

/** A table whose TOAST data is so large that a single row may be too long for COPY. */
export type LargeTable = RowOf<typeof largeValuesQuery>;

/**
 * The maximum bytes of a row as COPY and logical decoding write it; a server allocates no larger string (MaxAllocSize).
 */
export const maxRowBytes = 1024 ** 3;

/** COPY writes each byte of a bytea value as two hexadecimal digits. */
const byteaLimit = maxRowBytes / 2;

/** Tables with an ACCESS EXCLUSIVE lock are left out, because reading their size would wait for the lock. */
export const largeValuesQuery = rowsQuery({
  id: 'large-values',
  scope: 'database',
  when: (known) => {
    const seen = known(featuresQuery);
    return seen === undefined || seen.bytes > byteaLimit;
  },
  sql: () => `
    SELECT s.name, s.bytes, s.binaries, s.texts
    FROM (
      SELECT
        c.oid::regclass AS name,
        CASE
          WHEN c.oid NOT IN ${lockedRelationsSql} AND c.reltoastrelid NOT IN ${lockedRelationsSql}
            THEN pg_relation_size(c.reltoastrelid)
        END AS bytes,
        l.binaries,
        l.texts
      FROM pg_class c
      CROSS JOIN LATERAL (
        SELECT
          array_agg(quote_ident(a.attname) ORDER BY a.attnum) FILTER (WHERE a.atttypid = '${typeOids.bytea}') AS binaries,
          array_agg(quote_ident(a.attname) ORDER BY a.attnum) FILTER (WHERE a.atttypid <> '${typeOids.bytea}') AS texts
        FROM pg_attribute a
        WHERE a.attrelid = c.oid
          AND a.attnum > 0
          AND a.attlen = -1
          AND a.atttypmod = -1
          AND a.attstorage <> 'p'
          AND NOT a.attisdropped
      ) l
      WHERE c.oid >= '${firstNormalOid}'
        AND c.relkind = 'r'
        AND c.relpersistence = 'p'
        AND c.reltoastrelid <> '0'
    ) s
    WHERE s.bytes >= CASE
      WHEN s.binaries IS NOT NULL THEN ${byteaLimit}
      WHEN s.texts IS NOT NULL THEN ${maxRowBytes}
    END
    ORDER BY s.bytes DESC
  `,
  row: columns({
    table: column.text('name'),
    /** Bytes of the TOAST table. */
    bytes: column.number('bytes'),
    /**
     * Quoted names of the columns that can have long values: `binaries` have the type bytea, `texts` have other types.
     */
    binaries: column.texts('binaries'),
    texts: column.texts('texts'),
  }),
});

/** A table with rows that are too long for a page when every column is written. */
export type WideTable = RowOf<typeof wideTablesQuery>;

/**
 * Rows that are older than a column with a constant default do not contain it (since PostgreSQL 11). Columns of fixed
 * length, which TOAST does not move, decide.
 */
export const wideTablesQuery = rowsQuery({
  id: 'wide-tables',
  scope: 'database',
  when: featureCondition('wide-tables'),
  sql: (version) =>
    version < 110_000
      ? undefined
      : `
        SELECT name, bytes, certain + 24 > page AS is_certain
        FROM (
          SELECT
            c.oid::regclass AS name,
            sum(CASE WHEN a.attlen > 0 THEN a.attlen ELSE 1 END) + 24 AS bytes,
            sum(CASE WHEN a.attlen > 0 THEN a.attlen ELSE 1 END) FILTER (WHERE a.attnotnull) AS certain,
            current_setting('block_size')::int - 32 AS page
          FROM pg_class c
          JOIN pg_attribute a ON a.attrelid = c.oid
          WHERE c.relnatts > ${narrowColumns}
            AND c.oid >= '${firstNormalOid}'
            AND a.attnum > 0
            AND NOT a.attisdropped
            AND (a.attnotnull OR a.atthasmissing)
            AND ${hasRowsSql}
          GROUP BY c.oid
        ) t
        WHERE bytes > page
        ORDER BY 1
      `,
  row: columns({
    table: column.text('name'),
    /** The least bytes of a row. */
    bytes: column.number('bytes'),
    /** Whether every row is too long, and not only a row without NULL. */
    isCertain: column.boolean('is_certain'),
  }),
});
