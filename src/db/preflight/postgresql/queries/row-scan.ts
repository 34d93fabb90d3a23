import { decodeBooleanColumn, decodeTextColumn } from '../../../../postgresql/decode-row.ts';
import type { PostgresqlRow } from '../../../../postgresql/postgresql-row.ts';
import { isColumnReadByCopySql, type OrdinaryTable } from '../../../../postgresql/table-rows.ts';
import type { SourceTableRowSearcher, TableRowSearchResult } from '../query.ts';
import { containingTypesSql } from './containing-types.ts';

/**
 * The result of a search for a row in a table. `none`: the table has no rows; `unseen`: its rows were not read, or not
 * all of them.
 */
export type TableViolationSearchResult = 'none' | TableRowSearchResult;

/** Bytes of the largest table whose rows a preflight reads. */
export const maxTableBytesForRowScan = 256 * 1024 * 1024;

/** SQL condition for the table `c`. */
export const isNonEmptyPermanentTableSql = "c.relpersistence = 'p' AND pg_relation_size(c.oid) > 0";

/**
 * SQL condition: all rows of the table `c` can be read quickly, because it is small, and the role may read every row.
 */
const canReadRowsQuicklySql = `
  pg_relation_size(c.oid) <= ${maxTableBytesForRowScan}
    AND has_table_privilege(c.oid, 'SELECT')
    AND NOT row_security_active(c.oid)
`;

/**
 * Query columns for `decodeSearchedTable`: the table `c` and its column `a`, with the names from the system catalogs.
 */
export const searchedTableSelectListSql = (version: number): string => `
  ${isColumnReadByCopySql(version)} AND ${canReadRowsQuicklySql} AS readable,
  (SELECT nspname FROM pg_namespace WHERE oid = c.relnamespace) AS raw_schema,
  c.relname AS raw_table,
  a.attname AS raw_column
`;

/**
 * The table and the column whose rows are searched; undefined if the role cannot read the rows, or if reading them
 * would take long.
 */
export function decodeSearchedTable(row: PostgresqlRow): OrdinaryTable | undefined {
  if (!decodeBooleanColumn(row, 'readable')) return undefined;
  return {
    schema: decodeTextColumn(row, 'raw_schema'),
    name: decodeTextColumn(row, 'raw_table'),
    columns: [decodeTextColumn(row, 'raw_column')],
  };
}

/** A preliminary result from the system catalogs, and the table whose rows must be searched for the final result. */
export interface RowScanDependentResult {
  readonly rows: TableViolationSearchResult;
  /** The table in which rows are searched for; undefined if no rows need to be read. */
  readonly searched?: OrdinaryTable | undefined;
}

/** Searches several tables for rows, one after the other. */
export async function completeResultsByRowSearch<T extends RowScanDependentResult>(
  found: readonly T[],
  search: SourceTableRowSearcher,
  isViolation: (row: Uint8Array, one: T) => boolean,
): Promise<readonly T[]> {
  const scanned: T[] = [];
  for (const one of found) {
    const { searched } = one;
    const rows = searched === undefined ? one.rows : await search(searched, (row) => isViolation(row, one));
    scanned.push({ ...one, rows });
  }
  return scanned;
}

export const domainTypeHasRowsSql = (types: string): string => `
  EXISTS (
    SELECT FROM pg_attribute a
    JOIN pg_class c ON c.oid = a.attrelid
    JOIN pg_type t ON t.oid = k.contypid
    WHERE ${types}
      AND NOT a.attisdropped
      AND c.relkind = 'r'
      AND ${isNonEmptyPermanentTableSql}
  )
`;

/**
 * SQL condition: stored rows must satisfy the constraint `k`. Its table has rows, or a column of a table with rows has
 * the domain of the constraint.
 */
const holds = `
  CASE
    WHEN k.contypid <> '0' THEN ${domainTypeHasRowsSql('a.atttypid = t.oid')}
    ELSE EXISTS (SELECT FROM pg_class c WHERE c.oid = k.conrelid AND ${isNonEmptyPermanentTableSql})
  END
`;

/**
 * SQL condition: rows contain the domain of the constraint inside another type, where VALIDATE CONSTRAINT does not
 * look.
 */
const holdsInside = (version: number): string => `
  k.contypid <> '0'
    AND EXISTS (
      WITH RECURSIVE h AS (${containingTypesSql(version)}),
      w AS (
        SELECT h.whole
        FROM h
        WHERE h.part = k.contypid
        UNION
        SELECT h.whole
        FROM w
        JOIN h ON h.part = w.whole
      )
      SELECT FROM w
      JOIN pg_attribute a ON a.atttypid = w.whole AND NOT a.attisdropped
      JOIN pg_class c ON c.oid = a.attrelid AND c.relkind = 'r'
      WHERE ${isNonEmptyPermanentTableSql}
    )
`;

/**
 * SQL condition: stored rows must satisfy the constraint `k`. Its table has rows, or a column of a table with rows has
 * the domain of the constraint, directly or inside another type.
 */
export const constraintHasStoredRowsSql = (version: number): string => `(${holds} OR (${holdsInside(version)}))`;
