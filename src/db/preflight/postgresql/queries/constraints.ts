import { decodeBooleanColumn, decodeTextColumn } from '../../../../postgresql/decode-row.ts';
import { isNullTextCopyField } from '../../../../postgresql/table-rows.ts';
import type { PostgresqlPreflightQuery } from '../query.ts';
import { checkConstraintDependsOnClockSql } from './catalog-predicates.ts';
import { createDatabaseFeatureCondition } from './database-overview.ts';
import { decodeNamedConstraint, type NamedConstraint, namedConstraintSelectListSql } from './named-constraint.ts';
import {
  completeResultsByRowSearch,
  constraintHasStoredRowsSql,
  decodeSearchedTable,
  isNonEmptyPermanentTableSql,
  type RowScanDependentResult,
  searchedTableSelectListSql,
} from './row-scan.ts';

/**
 * A nullable column of a table with rows, whose parent table has the same column as NOT NULL. `violate`: at least one
 * row has NULL in the column.
 */
export interface NullableInheritedColumn extends RowScanDependentResult {
  readonly table: string;
  /** Quoted. */
  readonly column: string;
}

/** The query is not needed since PostgreSQL 18, in which an inherited NOT NULL constraint cannot be dropped. */
export const nullableInheritedColumnsQuery: PostgresqlPreflightQuery<readonly NullableInheritedColumn[]> = {
  id: 'nullable-inherited-columns',
  scope: 'database',
  when: createDatabaseFeatureCondition('heirs'),
  sql: (version) =>
    version < 100_000 || version >= 180_000
      ? undefined
      : `
        SELECT DISTINCT
          c.oid::regclass AS name,
          quote_ident(a.attname) AS attname,
          ${searchedTableSelectListSql(version)}
        FROM pg_inherits i
        JOIN pg_class c ON c.oid = i.inhrelid
        JOIN pg_attribute a ON a.attrelid = c.oid
        JOIN pg_attribute p ON p.attrelid = i.inhparent AND p.attname = a.attname
        WHERE c.relkind = 'r'
          AND NOT c.relispartition
          AND p.attnotnull
          AND NOT a.attnotnull
          AND a.attnum > 0
          AND ${isNonEmptyPermanentTableSql}
        ORDER BY 1, 2
      `,
  decode: (rows) =>
    rows.map((row) => ({
      table: decodeTextColumn(row, 'name'),
      column: decodeTextColumn(row, 'attname'),
      rows: 'unseen',
      searched: decodeSearchedTable(row),
    })),
  searchRows: (found, search) => completeResultsByRowSearch(found, search, isNullTextCopyField),
  absent: [],
};

/** The CHECK constraints that read the clock, and whose table or domain has rows. */
export const timeDependentConstraintsQuery: PostgresqlPreflightQuery<readonly NamedConstraint[]> = {
  id: 'time-dependent-constraints',
  scope: 'database',
  when: createDatabaseFeatureCondition('odd-constraints'),
  sql: (version) => `
    SELECT
      ${namedConstraintSelectListSql}
    FROM pg_constraint k
    WHERE ${checkConstraintDependsOnClockSql} AND ${constraintHasStoredRowsSql(version)}
    ORDER BY 2, 1
  `,
  decode: (rows) => rows.map(decodeNamedConstraint),
  absent: [],
};

/** A foreign key whose referencing table is unlogged. */
export interface UnloggedForeignKey {
  readonly from: string;
  readonly to: string;
  /** Whether the referenced table is permanent, and so is replicated. */
  readonly logged: boolean;
  /**
   * Whether the referenced table was truncated together with the unlogged one: both have new files, and most inserted
   * rows are gone without a DELETE.
   */
  readonly truncated: boolean;
}

export const unloggedForeignKeysQuery: PostgresqlPreflightQuery<readonly UnloggedForeignKey[]> = {
  id: 'unlogged-references',
  scope: 'database',
  when: createDatabaseFeatureCondition('relations'),
  sql: () => `
    SELECT
      k.conrelid::regclass AS from_table,
      k.confrelid::regclass AS to_table,
      b.relpersistence = 'p' AS logged,
      b.relkind = 'r'
        AND b.relfilenode <> b.oid
        AND a.relfilenode <> a.oid
        AND (
          current_setting('track_counts') <> 'on'
            OR 2 * pg_stat_get_live_tuples(b.oid) < pg_stat_get_tuples_inserted(b.oid) - pg_stat_get_tuples_deleted(
              b.oid
            )
        ) AS truncated
    FROM pg_constraint k
    JOIN pg_class a ON a.oid = k.conrelid
    JOIN pg_class b ON b.oid = k.confrelid
    WHERE k.contype = 'f' AND a.relpersistence = 'u'
  `,
  decode: (rows) =>
    rows.map((row) => ({
      from: decodeTextColumn(row, 'from_table'),
      to: decodeTextColumn(row, 'to_table'),
      logged: decodeBooleanColumn(row, 'logged'),
      truncated: decodeBooleanColumn(row, 'truncated'),
    })),
  absent: [],
};
