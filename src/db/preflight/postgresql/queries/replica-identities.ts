import { catalogOids, firstNormalOid, typeOids } from '../../../../postgresql/catalog-oids.ts';
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
import { column, columns, type RowOf, rowsQuery } from '../query.ts';
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
  /** Statements that may change rows of the table although none of its own rows was changed. */
  readonly perhaps: readonly PossibleWrite[];
  /** Number of rows, as estimated by the server. */
  readonly rows: number;
  /** Whether a target that uses indexes for REPLICA IDENTITY FULL finds rows by a btree index; true with few rows. */
  readonly indexed: boolean;
}

/**
 * `upsert`: rows were inserted, and a unique index makes ON CONFLICT DO UPDATE possible. `key`: foreign keys with ON
 * UPDATE CASCADE or SET lead to a table in which an indexed column may have changed. `chain`: the table follows a table
 * that follows deleted rows. `kin`: rows of a table with the same inheritance root were changed. `rule`: the action of a
 * rule contains UPDATE, DELETE or MERGE. `body`: the body of a function does, which another query reads.
 */
export type PossibleWrite = 'upsert' | 'key' | 'chain' | 'kin' | 'rule' | 'body';

const possibleWrites: readonly (readonly [flag: string, write: PossibleWrite])[] = [
  ['U', 'upsert'],
  ['m', 'key'],
  ['c', 'chain'],
  ['h', 'kin'],
  ['r', 'rule'],
];

export const unsafeIdentitiesQuery = rowsQuery<UnsafeIdentity>({
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
      `CASE
        WHEN ${liveRows} < ${fewRows} THEN 'b'
        WHEN EXISTS (
          SELECT FROM pg_index y
          JOIN pg_class b ON b.oid = y.indexrelid
          JOIN pg_am t ON t.oid = b.relam
          WHERE y.indrelid = c.oid
            AND t.amname = 'btree'
            AND y.indisvalid
            AND y.indpred IS NULL
            AND ${beginsWithSent(version, 'y')}
        ) THEN 'b'
      END`,
      "CASE WHEN f.older THEN 'o' END",
      "CASE WHEN f.moved THEN 'm' END",
      "CASE WHEN f.chained THEN 'c' END",
      "CASE WHEN c.oid IN (SELECT kin.rel FROM kin) THEN 'h' END",
      `CASE WHEN EXISTS (${changingRules(version)}) THEN 'r' END`,
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
      ${kinCte}
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
        ${liveRows}::bigint AS live_rows,
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
  row: (row) => {
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
      perhaps: possibleWrites.filter(([flag]) => flags.includes(flag, 1)).map(([, write]) => write),
      rows: decodeNumber(row, 'live_rows'),
      indexed: flags.includes('b', 1),
    };
  },
});

/** Estimated number of rows of the table `c`. */
const liveRows = 'greatest(c.reltuples, pg_stat_get_live_tuples(c.oid), 0)';

/** Up to so many rows are searched without an index as fast as with one. */
const fewRows = 1000;

/**
 * WITH clause: the tables of which a parent, a child or another child of the same root had changed rows (`kin`). The
 * server checks the replica identity of all of them when a statement names their parent, and counts only changed rows.
 */
const kinCte = `
  WITH RECURSIVE tree(rel, root) AS (
    SELECT i.inhparent, i.inhparent
    FROM pg_inherits i
    WHERE NOT EXISTS (SELECT FROM pg_inherits u WHERE u.inhrelid = i.inhparent)
    UNION
    SELECT i.inhrelid, tree.root
    FROM tree
    JOIN pg_inherits i ON i.inhparent = tree.rel
  ),
  changed(root) AS (
    SELECT tree.root
    FROM tree
    GROUP BY tree.root
    HAVING sum(pg_stat_get_tuples_updated(tree.rel) + pg_stat_get_tuples_deleted(tree.rel)) > 0
  ),
  kin(rel) AS (
    SELECT tree.rel
    FROM tree
    JOIN changed ON changed.root = tree.root
  )
`;

/** Rules with an UPDATE, DELETE or MERGE (nodes/nodes.h: CmdType) that use the table `c`. */
function changingRules(version: number): string {
  return `
    SELECT FROM pg_depend d
    JOIN pg_rewrite w ON w.oid = d.objid
    WHERE d.refclassid = '${catalogOids.pg_class}'
      AND d.refobjid = c.oid
      AND d.classid = '${catalogOids.pg_rewrite}'
      AND w.ev_type <> '1'
      AND w.ev_action::text ~ ':commandType [24${version < 150_000 ? '' : '5'}] '
  `;
}

/**
 * The tables that the foreign keys of the table `c` follow by an action, directly or through other tables. The server
 * checks the replica identity for the action of every deleted or changed row, also if no row refers to it. Foreign keys
 * of a partition and of its partitioned tables refer to different partitions. A HOT update changes no indexed column, so
 * no referenced key.
 */
function followedTables(version: number): string {
  const keysOf = (table: string) => `
    k.contype = 'f'${version < 180_000 ? '' : ' AND k.conenforced'}
      AND ${
        version < 120_000
          ? `k.conrelid = ${table}`
          : `k.conrelid = ANY (ARRAY(SELECT ${table} UNION ALL SELECT a::oid FROM pg_partition_ancestors(${table}) a))`
      }
  `;
  const actions = 'CROSS JOIN LATERAL (VALUES (true, k.confdeltype), (false, k.confupdtype)) x(deletes, action)';
  return `
    WITH RECURSIVE reached(rel, deletes, keys, direct) AS (
      SELECT k.confrelid, x.deletes, CASE WHEN NOT x.deletes THEN k.confkey END, true
      FROM pg_constraint k
      ${actions}
      WHERE ${keysOf('c.oid')}
        AND x.action IN ('c', 'n', 'd')
      UNION
      SELECT k.confrelid, x.deletes, CASE WHEN NOT x.deletes THEN k.confkey END, false
      FROM reached
      JOIN pg_constraint k ON ${keysOf('reached.rel')}
      ${actions}
      WHERE CASE
        WHEN reached.deletes THEN x.deletes AND x.action = 'c'
        ELSE k.conkey && reached.keys AND (x.action IN ('n', 'd') OR (x.action = 'c' AND NOT x.deletes))
      END
    )
    SELECT
      max(k.deleted) FILTER (WHERE k.direct) AS deleted,
      (array_agg(k.rel::regclass::text ORDER BY k.deleted DESC NULLS LAST) FILTER (WHERE k.direct))[1] AS parent,
      bool_or(k.deleted > 0 AND NOT k.direct) AS chained,
      bool_or(k.moved > 0) AS moved,
      bool_or(k.older) AS older
    FROM (
      SELECT
        r.rel,
        r.direct,
        CASE WHEN r.deletes THEN pg_stat_get_tuples_deleted(r.rel) END AS deleted,
        CASE
          WHEN NOT r.deletes THEN pg_stat_get_tuples_updated(r.rel) - pg_stat_get_tuples_hot_updated(r.rel)
        END AS moved,
        r.direct
          AND r.deletes
          AND pg_stat_get_tuples_inserted(p.oid) = 0
          AND CASE
            WHEN p.relpages > 0 THEN true
            WHEN p.oid IN ${lockedRelationsSql} THEN false
            ELSE pg_relation_size(p.oid) > 0
          END AS older
      FROM reached r
      JOIN pg_class p ON p.oid = r.rel AND p.relkind = 'r'
    ) k
  `;
}

function decodeParent(row: PostgresqlRow): UnsafeIdentity['parent'] {
  const name = decodeOptionalText(row, 'parent');
  return name === undefined ? undefined : { name, deletes: decodeNumber(row, 'parent_deletes') };
}

/** A column whose type has no equality operator, in a table whose replica identity is the whole row. */
export type IncomparableColumn = RowOf<typeof incomparableColumnsQuery>;

/**
 * Finds the equality operator like TYPECACHE_EQ_OPR (src/backend/utils/cache/typcache.c): from a default btree or hash
 * operator class of the type, or of a type that is binary compatible by an implicit cast. Arrays, composite types and
 * domains have an equality operator if their elements have one; enums and ranges always have one.
 */
export const incomparableColumnsQuery = rowsQuery({
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
  row: columns({
    table: column.text('name'),
    /** `doc json`. */
    column: column.text('described'),
  }),
});

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
export const looselyEqualColumnsQuery = rowsQuery<LooselyEqualColumn>({
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
  row: (row) => ({ table: decodeText(row, 'name'), column: decodeText(row, 'described') }),
});

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
 * A column of an index with which the target misses rows of a table whose replica identity is the whole row.
 * `violate`: the index misses at least one row.
 */
export interface MissedColumn extends PreliminaryResult {
  readonly table: string;
  /** Quoted. */
  readonly column: string;
  readonly index: string;
  /** `null`: a hash index does not find NULL. `generated`: the source does not send the value to search for. */
  readonly why: 'null' | 'generated';
}

/**
 * When the target searches for a row, it uses the first index that is not partial and begins with a column that is sent.
 * The target creates the indexes of constraints first, then the other indexes in the order of their names.
 */
const earlier = (version: number): string => `
  EXISTS (
    SELECT FROM pg_index y
    JOIN pg_class b ON b.oid = y.indexrelid
    JOIN pg_am t ON t.oid = b.relam
    WHERE y.indrelid = c.oid
      AND t.amname = 'btree'
      AND y.indpred IS NULL
      AND ${beginsWithSent(version, 'y')}
      AND (NOT ${ofConstraint('y')}, b.relname::text COLLATE "C") < (NOT ${ofConstraint('x')}, n.relname::text COLLATE "C")
  )
`;

function ofConstraint(index: string): string {
  return `EXISTS (SELECT FROM pg_constraint k WHERE k.conindid = ${index}.indexrelid AND k.conrelid = c.oid)`;
}

/** Condition: the index of the table `c` begins with a column that is not generated. */
function beginsWithSent(version: number, index: string): string {
  const isColumn = `${index}.indkey[0] <> '0'`;
  return version < 120_000
    ? isColumn
    : `
      ${isColumn}
        AND NOT EXISTS (
          SELECT FROM pg_attribute a
          WHERE a.attrelid = c.oid
            AND a.attnum = ${index}.indkey[0]
            AND a.attgenerated <> ''
        )
    `;
}

/**
 * The target compares the columns of the index that it uses, also generated ones, for which it has no value then: it
 * searches for NULL (execReplication.c: build_replindex_scan_key).
 */
export const missedColumnsQuery = rowsQuery<MissedColumn>({
  id: 'columns-missed-by-index',
  scope: 'database',
  when: featureCondition('relations'),
  sql: (version) => `
    SELECT
      c.oid::regclass AS name,
      quote_ident(a.attname) AS attname,
      x.indexrelid::regclass AS by_index,
      m.amname = 'hash' AS hashed,
      ${filledTableSql} AS filled,
      ${searchedTableSql(version)}
    FROM pg_class c
    LEFT JOIN pg_index i ON ${identityIndexCondition}
    JOIN pg_index x ON x.indrelid = c.oid AND x.indisvalid AND x.indpred IS NULL
    JOIN pg_class n ON n.oid = x.indexrelid
    JOIN pg_am m ON m.oid = n.relam
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = ANY (${keyColumns(version, 'x')})
    WHERE c.oid >= '${firstNormalOid}'
      AND c.relkind = 'r'
      AND c.relpersistence <> 't'
      AND i.indexrelid IS NULL
      AND ${beginsWithSent(version, 'x')}
      AND (
        (m.amname = 'hash' AND NOT a.attnotnull)${version < 120_000 ? '' : " OR (m.amname = 'btree' AND a.attgenerated <> '')"}
      )
      AND NOT ${earlier(version)}
    ORDER BY 1, 2
  `,
  row: (row) => ({
    table: decodeText(row, 'name'),
    column: decodeText(row, 'attname'),
    index: decodeText(row, 'by_index'),
    ...(decodeBoolean(row, 'hashed')
      ? {
          why: 'null',
          ...(decodeBoolean(row, 'filled') ? { rows: 'unseen', searched: decodeSearchedTable(row) } : { rows: 'none' }),
        }
      : { why: 'generated', rows: 'violate' }),
  }),
  searchRows: (found, search) => completeBySearch(found, search, isNullField),
});

/** The releases that use such an index for REPLICA IDENTITY FULL: a btree index since 16, a hash index since 17. */
const usedSince = { generated: 160_000, null: 170_000 } as const;

/** Whether the target reads half of the table, on average, for each changed row of a table with REPLICA IDENTITY FULL. */
export function readsWholeTable({ keyed, indexed }: UnsafeIdentity, options: PreflightOptions): boolean {
  const target = targetVersionNumber(options);
  return !keyed && !(indexed && (target === undefined || target >= usedSince.generated));
}

/** Without the indexes that targets of an older release do not use. */
export function missedOnTarget(missed: readonly MissedColumn[], options: PreflightOptions): readonly MissedColumn[] {
  const target = targetVersionNumber(options);
  return missed.filter(({ why }) => target === undefined || target >= usedSince[why]);
}

/** Columns for which REPLICA IDENTITY FULL is not sufficient, because the target does not find rows with an index. */
export function describeMissed(
  missed: readonly MissedColumn[],
  options: PreflightOptions,
): readonly IncomparableColumn[] {
  return missedOnTarget(missed, options).map(({ table, column, index, why }) => ({
    table,
    column: `${column} (${why === 'null' ? `the hash index ${index} has no entry for NULL` : `generated, in the index ${index}`})`,
  }));
}
