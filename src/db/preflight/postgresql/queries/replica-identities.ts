import { firstNormalOid, typeOids } from '../../../../postgresql/catalog-oids.ts';
import {
  decodeBoolean,
  decodeNumber,
  decodeOptionalNumber,
  decodeOptionalText,
  decodeText,
  type PostgresqlRow,
} from '../../../../postgresql/rows.ts';
import { isNullField } from '../../../../postgresql/table-rows.ts';
import type { PreflightOptions } from '../../options.ts';
import type { PostgresqlQuery } from '../query.ts';
import { targetVersionNumber } from '../source-facts.ts';
import { lockedRelationsSql } from './catalog-predicates.ts';
import { featureCondition } from './database-overview.ts';
import {
  completeBySearch,
  decodeSearchedTable,
  filledTableSql,
  type PreliminaryResult,
  partTypesSql,
  searchedTableSql,
} from './row-scan.ts';

/** A table whose replica identity does not identify its rows, or may not identify them. */
export interface UnsafeIdentity {
  readonly name: string;
  /** pg_class.relreplident: `d` default, `i` index, `f` full, `n` nothing. */
  readonly identity: string;
  readonly unlogged: boolean;
  /** Whether an index identifies the rows: the index of the replica identity, or a primary key for FULL and NOTHING. */
  readonly keyed: boolean;
  /** Whether the index that identifies rows contains a generated column, which is not replicated. */
  readonly generatedKey: boolean;
  /** Whether the table has a generated column. */
  readonly generated: boolean;
  /** The quoted name of the index of REPLICA IDENTITY USING INDEX, if it is usable. */
  readonly index: string | undefined;
  /** Whether the primary key is usable with REPLICA IDENTITY DEFAULT. */
  readonly primaryUsable: boolean;
  /** The quoted name of another unique index that is usable with REPLICA IDENTITY USING INDEX. */
  readonly usableIndex: string | undefined;
  /** Number of rows changed by UPDATE and DELETE since the statistics were reset; undefined if track_counts is off. */
  readonly writes: number | undefined;
  /**
   * Whether the table, or a table whose deleted rows its foreign keys follow, has rows, but none was inserted since the
   * statistics were reset.
   */
  readonly olderThanCounters: boolean;
  /** The table with the most deleted rows that a foreign key with ON DELETE CASCADE or SET follows; undefined if none. */
  readonly parent: { readonly name: string; readonly deletes: number } | undefined;
  /** Whether a foreign key with ON UPDATE CASCADE or SET refers to a table in which an indexed column may have changed. */
  readonly followsKeys: boolean;
  /** Whether rows were inserted, and a unique index makes ON CONFLICT DO UPDATE possible. */
  readonly upserts: boolean;
}

export const unsafeIdentitiesQuery: PostgresqlQuery<readonly UnsafeIdentity[]> = {
  id: 'replica-identities',
  scope: 'database',
  when: featureCondition('relations', 'columns'),
  sql: (version) => {
    const generated = (where: string) =>
      version < 120_000
        ? 'false'
        : `
          EXISTS (
            SELECT FROM pg_attribute a
            WHERE a.attrelid = c.oid
              AND a.attgenerated <> ''
              AND NOT a.attisdropped${where}
          )
        `;
    const flags = [
      "CASE WHEN c.relpersistence = 'u' THEN 'u' END",
      "CASE WHEN i.indexrelid IS NOT NULL THEN 'k' END",
      `CASE WHEN ${generated('')} THEN 'g' END`,
      `CASE WHEN ${generated(` AND a.attnum = ANY (${keyColumns(version, 'i')})`)} THEN 'G' END`,
      `CASE WHEN EXISTS (${usable(version, 'u.indisprimary')}) THEN 'p' END`,
      `CASE
        WHEN pg_stat_get_tuples_inserted(c.oid) > 0 THEN NULL
        WHEN c.relpages > 0 THEN 'o'
        WHEN c.oid IN ${lockedRelationsSql} THEN NULL
        WHEN pg_relation_size(c.oid) > 0 THEN 'o'
      END`,
      "CASE WHEN f.older THEN 'o' END",
      "CASE WHEN f.moved THEN 'm' END",
      `CASE
        WHEN pg_stat_get_tuples_inserted(c.oid) > 0
          AND EXISTS (
            SELECT FROM pg_index u
            WHERE u.indrelid = c.oid
              AND u.indisunique
              AND u.indimmediate
              AND u.indisvalid
              AND u.indislive
              AND EXISTS (
                SELECT FROM pg_attribute a
                WHERE a.attrelid = c.oid
                  AND a.attnum > 0
                  AND NOT a.attisdropped
                  AND a.attnum <> ALL (${keyColumns(version, 'u')})
              )
          ) THEN 'U'
      END`,
    ];
    return `
      SELECT
        c.oid::regclass AS name,
        concat(c.relreplident, ${flags.join(', ')}) AS flags,
        CASE
          WHEN c.relreplident = 'i'
            THEN (SELECT quote_ident(n.relname) FROM pg_class n WHERE n.oid = i.indexrelid)
        END AS identity_index,
        (${usable(version, 'NOT u.indisprimary')} ORDER BY cardinality(u.indkey::int2[]), n.relname LIMIT 1) AS usable_index,
        CASE
          WHEN current_setting('track_counts') = 'on'
            THEN pg_stat_get_tuples_updated(c.oid) + pg_stat_get_tuples_deleted(c.oid)
        END AS writes,
        CASE WHEN f.deleted > 0 THEN f.parent END AS parent,
        f.deleted AS parent_deletes
      FROM pg_class c
      LEFT JOIN pg_index i ON ${identityIndexCondition}
      CROSS JOIN LATERAL (${followedTables(version)}) f
      WHERE c.oid >= '${firstNormalOid}'
        AND c.relkind = 'r'
        AND c.relpersistence <> 't'
        AND (i.indexrelid IS NULL OR c.relreplident IN ('f', 'n') OR ${generated('')})
    `;
  },
  // All flags of a table are in one column, because a database may have a hundred thousand tables.
  decode: (rows) =>
    rows.map((row) => {
      const flags = decodeText(row, 'flags');
      return {
        name: decodeText(row, 'name'),
        identity: flags.slice(0, 1),
        unlogged: flags.includes('u', 1),
        keyed: flags.includes('k', 1),
        index: decodeOptionalText(row, 'identity_index'),
        generatedKey: flags.includes('G', 1),
        generated: flags.includes('g', 1),
        primaryUsable: flags.includes('p', 1),
        usableIndex: decodeOptionalText(row, 'usable_index'),
        writes: decodeOptionalNumber(row, 'writes'),
        olderThanCounters: flags.includes('o', 1),
        parent: decodeParent(row),
        followsKeys: flags.includes('m', 1),
        upserts: flags.includes('U', 1),
      };
    }),
  absent: [],
};

/**
 * The tables that the foreign keys of the table `c` follow by an action. The server checks the replica identity for the
 * action of every deleted or changed row, also if no row refers to it. Foreign keys of a partition and of its
 * partitioned tables refer to different partitions. A HOT update changes no indexed column, so no referenced key.
 */
function followedTables(version: number): string {
  const owners =
    version < 120_000
      ? 'k.conrelid = c.oid'
      : 'k.conrelid = ANY (ARRAY(SELECT c.oid UNION ALL SELECT a::oid FROM pg_partition_ancestors(c.oid) a))';
  return `
    SELECT
      max(k.deleted) AS deleted,
      (array_agg(k.confrelid::regclass::text ORDER BY k.deleted DESC NULLS LAST))[1] AS parent,
      bool_or(k.moved > 0) AS moved,
      bool_or(k.older) AS older
    FROM (
      SELECT
        k.confrelid,
        CASE WHEN k.confdeltype IN ('c', 'n', 'd') THEN pg_stat_get_tuples_deleted(k.confrelid) END AS deleted,
        CASE
          WHEN k.confupdtype IN ('c', 'n', 'd')
            THEN pg_stat_get_tuples_updated(k.confrelid) - pg_stat_get_tuples_hot_updated(k.confrelid)
        END AS moved,
        k.confdeltype IN ('c', 'n', 'd') AND p.relpages > 0 AND pg_stat_get_tuples_inserted(p.oid) = 0 AS older
      FROM pg_constraint k
      JOIN pg_class p ON p.oid = k.confrelid AND p.relkind = 'r'
      WHERE ${owners}
        AND k.contype = 'f'${version < 180_000 ? '' : ' AND k.conenforced'}
    ) k
  `;
}

function decodeParent(row: PostgresqlRow): UnsafeIdentity['parent'] {
  const name = decodeOptionalText(row, 'parent');
  return name === undefined ? undefined : { name, deletes: decodeNumber(row, 'parent_deletes') };
}

/** A column whose type has no equality operator, in a table whose replica identity is the whole row. */
export interface IncomparableColumn {
  readonly table: string;
  /** `doc json`. */
  readonly column: string;
}

/**
 * Finds the equality operator like TYPECACHE_EQ_OPR (src/backend/utils/cache/typcache.c): from a default btree or hash
 * operator class of the type, or of a type that is binary compatible by an implicit cast. Arrays, composite types and
 * domains have an equality operator if their elements have one; enums and ranges always have one.
 */
export const incomparableColumnsQuery: PostgresqlQuery<readonly IncomparableColumn[]> = {
  id: 'columns-without-equality',
  scope: 'database',
  when: featureCondition('relations'),
  sql: (version) => `
    ${columnsOfWholeRowsCte(version)},
    bare AS (
      SELECT DISTINCT made.root
      FROM made
      JOIN pg_type t ON t.oid = made.type
      WHERE t.typtype IN ('b', 'p')
        AND NOT (t.typlen = -1 AND t.typelem <> 0)
        AND NOT EXISTS (
          SELECT FROM pg_opclass o
          JOIN pg_am m ON m.oid = o.opcmethod
          WHERE m.amname IN ('btree', 'hash')
            AND o.opcdefault
            AND (
              o.opcintype = t.oid
                OR EXISTS (
                  SELECT FROM pg_cast k
                  WHERE k.castsource = t.oid
                    AND k.casttarget = o.opcintype
                    AND k.castmethod = 'b'
                    AND k.castcontext = 'i'
                )
            )
        )
    )
    SELECT
      used.attrelid::regclass AS name,
      quote_ident(used.attname) || ' ' || format_type(used.atttypid, used.atttypmod) AS described
    FROM used
    JOIN bare ON bare.root = used.atttypid
    ORDER BY used.attrelid, used.attnum
  `,
  decode: (rows) => rows.map((row) => ({ table: decodeText(row, 'name'), column: decodeText(row, 'described') })),
  absent: [],
};

/** WITH clause: the columns of tables without a key (`used`), and the types that the type of each contains (`made`). */
function columnsOfWholeRowsCte(version: number): string {
  return `
    WITH RECURSIVE used AS (
      SELECT a.attrelid, a.attnum, a.attname, a.atttypid, a.atttypmod, a.attcollation
      FROM pg_class c
      LEFT JOIN pg_index i ON ${identityIndexCondition}
      JOIN pg_attribute a
        ON a.attrelid = c.oid
          AND a.attnum > 0
          AND NOT a.attisdropped${version < 120_000 ? '' : " AND a.attgenerated = ''"}
      WHERE c.oid >= '${firstNormalOid}'
        AND c.relkind = 'r'
        AND c.relpersistence <> 't'
        AND (i.indexrelid IS NULL OR c.relreplident = 'n')
    ),
    made(root, type) AS (
      SELECT DISTINCT atttypid, atttypid
      FROM used
      UNION
      SELECT made.root, part.type
      FROM made
      JOIN pg_type t ON t.oid = made.type
      CROSS JOIN LATERAL (${partTypesSql(version)}) part(type)
    )
  `;
}

/** A column with values that are equal and not the same: 1.0 and 1.00, `Bob` and `bob` in citext, 24 hours and 1 day. */
export type LooselyEqualColumn = IncomparableColumn;

/**
 * numeric with a scale and char(n) keep one form of each value. Floating-point numbers are left out: only 0 and -0 are
 * equal.
 */
export const looselyEqualColumnsQuery: PostgresqlQuery<readonly LooselyEqualColumn[]> = {
  id: 'loosely-equal-columns',
  scope: 'database',
  when: featureCondition('relations'),
  sql: (version) => `
    ${columnsOfWholeRowsCte(version)}
    SELECT
      used.attrelid::regclass AS name,
      quote_ident(used.attname) || ' ' || format_type(used.atttypid, used.atttypmod) AS described
    FROM used
    WHERE EXISTS (
      SELECT FROM made
      JOIN pg_type t ON t.oid = made.type
      WHERE made.root = used.atttypid
        AND (
          t.oid IN ('${typeOids.interval}', '${typeOids.jsonb}')
            OR (
              t.oid IN ('${typeOids.numeric}', '${typeOids.bpchar}')
                AND used.atttypmod = -1
                AND NOT EXISTS (SELECT FROM pg_type y WHERE y.oid = used.atttypid AND y.typtypmod <> -1)
            )
            OR (t.typtype = 'b' AND t.typname = 'citext')
        )
    )
      ${version < 120_000 ? '' : 'OR EXISTS (SELECT FROM pg_collation l WHERE l.oid = used.attcollation AND NOT l.collisdeterministic)'}
    ORDER BY used.attrelid, used.attnum
  `,
  decode: (rows) => rows.map((row) => ({ table: decodeText(row, 'name'), column: decodeText(row, 'described') })),
  absent: [],
};

/**
 * Condition for the index `i` that identifies rows of the table `c`: the index of REPLICA IDENTITY USING INDEX, else
 * the primary key; valid and not deferrable, as RelationGetIndexList requires.
 */
const identityIndexCondition = `
  i.indrelid = c.oid
    AND i.indisvalid
    AND i.indislive
    AND i.indimmediate
    AND CASE c.relreplident WHEN 'i' THEN i.indisreplident ELSE i.indisprimary END
`;

/**
 * Condition for indexes that REPLICA IDENTITY USING INDEX accepts, except those over generated columns, which are not
 * replicated.
 */
function usable(version: number, which: string): string {
  const generated = version < 120_000 ? '' : " OR a.attgenerated <> ''";
  return `
    SELECT quote_ident(n.relname)
    FROM pg_index u
    JOIN pg_class n ON n.oid = u.indexrelid
    WHERE u.indrelid = c.oid
      AND ${which}
      AND u.indisunique
      AND u.indimmediate
      AND u.indisvalid
      AND u.indislive
      AND u.indpred IS NULL
      AND u.indexprs IS NULL
      AND NOT EXISTS (
        SELECT FROM pg_attribute a
        WHERE a.attrelid = c.oid
          AND a.attnum = ANY (${keyColumns(version, 'u')})
          AND (NOT a.attnotnull${generated})
      )
  `;
}

/** The key columns of an index, without those of INCLUDE. The first element of indkey (int2vector) has the index 0. */
function keyColumns(version: number, index: string): string {
  return version < 110_000 ? `${index}.indkey::int2[]` : `(${index}.indkey::int2[])[0:${index}.indnkeyatts - 1]`;
}

/**
 * A hash index on a nullable column of a table whose replica identity is the whole row. The target uses this index to
 * find rows, although a hash index does not find NULL. `violate`: at least one row has NULL in the column.
 */
export interface HashColumn extends PreliminaryResult {
  readonly table: string;
  /** Quoted. */
  readonly column: string;
  readonly index: string;
}

/**
 * When the target searches for a row, it uses the first index that is not partial and begins with a column. The target
 * creates the indexes of constraints first, then the other indexes in the order of their names.
 */
const earlier = `
  EXISTS (
    SELECT FROM pg_index y
    JOIN pg_class b ON b.oid = y.indexrelid
    JOIN pg_am t ON t.oid = b.relam
    WHERE y.indrelid = c.oid
      AND t.amname = 'btree'
      AND y.indpred IS NULL
      AND y.indkey[0] <> '0'
      AND (
        b.relname::text COLLATE "C" < n.relname::text COLLATE "C"
          OR EXISTS (SELECT FROM pg_constraint k WHERE k.conindid = b.oid AND k.conrelid = c.oid)
      )
  )
`;

export const hashColumnsQuery: PostgresqlQuery<readonly HashColumn[]> = {
  id: 'nullable-hash-index-columns',
  scope: 'database',
  when: featureCondition('relations'),
  sql: (version) => `
    SELECT
      c.oid::regclass AS name,
      quote_ident(a.attname) AS attname,
      x.indexrelid::regclass AS by_index,
      ${filledTableSql} AS filled,
      ${searchedTableSql(version)}
    FROM pg_class c
    LEFT JOIN pg_index i ON ${identityIndexCondition}
    JOIN pg_index x ON x.indrelid = c.oid AND x.indisvalid AND x.indpred IS NULL
    JOIN pg_class n ON n.oid = x.indexrelid
    JOIN pg_am m ON m.oid = n.relam
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = x.indkey[0]
    WHERE c.oid >= '${firstNormalOid}'
      AND c.relkind = 'r'
      AND c.relpersistence <> 't'
      AND i.indexrelid IS NULL
      AND m.amname = 'hash'
      AND NOT a.attnotnull
      AND NOT ${earlier}
    ORDER BY 1, 2
  `,
  decode: (rows) =>
    rows.map((row) => ({
      table: decodeText(row, 'name'),
      column: decodeText(row, 'attname'),
      index: decodeText(row, 'by_index'),
      ...(decodeBoolean(row, 'filled') ? { rows: 'unseen', searched: decodeSearchedTable(row) } : { rows: 'none' }),
    })),
  searchRows: (found, search) => completeBySearch(found, search, isNullField),
  absent: [],
};

/** With REPLICA IDENTITY FULL, PostgreSQL 17 and newer can use a hash index on the target to find a row. */
const hashIndexLookupSince = 170_000;

/**
 * Nullable columns with a hash index that the target uses to find rows; rows with NULL in such a column are not found.
 * Targets before PostgreSQL 17 use no hash index.
 */
export function targetHashColumns(hashed: readonly HashColumn[], options: PreflightOptions): readonly HashColumn[] {
  const target = targetVersionNumber(options);
  return target !== undefined && target < hashIndexLookupSince ? [] : hashed;
}

/**
 * Columns for which REPLICA IDENTITY FULL is not sufficient, because the target finds rows with a hash index, which has
 * no entry for NULL.
 */
export function missedNulls(hashed: readonly HashColumn[], options: PreflightOptions): readonly IncomparableColumn[] {
  return targetHashColumns(hashed, options).map(({ table, column, index }) => ({
    table,
    column: `${column} (the hash index ${index} has no entry for NULL)`,
  }));
}
