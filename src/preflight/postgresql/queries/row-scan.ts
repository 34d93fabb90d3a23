import type { PostgresqlRow } from '../../../postgresql/postgresql-row.ts';
import { isCopiedColumnSql, type PlainTable } from '../../../postgresql/table-rows.ts';
import type { RowSearchResult, SearchRows } from '../query.ts';
import { containingTypesSql } from './containing-types.ts';
import { decodeBoolean, decodeText } from './decode.ts';

/** Result of a search in the rows of a table. `none`: there are no rows; `unseen`: they were not read, or not all of them. */
export type RowScanResult = 'none' | RowSearchResult;

/** Bytes of the largest table that a preflight reads. */
export const rowScanSizeLimit = 256 * 1024 * 1024;

export const hasRowsSql = (table: string): string =>
  `${table}.relpersistence = 'p' AND pg_relation_size(${table}.oid) > 0`;

/** The table can be read completely and quickly. */
export const canReadRowsSql = (table: string): string => `
  pg_relation_size(${table}.oid) <= ${rowScanSizeLimit}
    AND has_table_privilege(${table}.oid, 'SELECT')
    AND NOT row_security_active(${table}.oid)
`;

/** Columns for `decodeSearchedTable`: the table `c` and its column `a`, with the names that the catalog has. */
export const searchedTableColumns = (version: number): string => `
  ${isCopiedColumnSql(version)} AND ${canReadRowsSql('c')} AS readable,
  (SELECT nspname FROM pg_namespace WHERE oid = c.relnamespace) AS raw_schema,
  c.relname AS raw_table,
  a.attname AS raw_column
`;

/** The table and the column to search; undefined: the rows cannot be read, or not quickly. */
export function decodeSearchedTable(row: PostgresqlRow): PlainTable | undefined {
  if (!decodeBoolean(row, 'readable')) return undefined;
  return {
    schema: decodeText(row, 'raw_schema'),
    name: decodeText(row, 'raw_table'),
    columns: [decodeText(row, 'raw_column')],
  };
}

/** What a query found in the catalogs, and the table whose rows decide. */
export interface RowScan {
  readonly rows: RowScanResult;
  /** undefined: no rows are read. */
  readonly searched?: PlainTable | undefined;
}

/** Searches the tables one after the other. */
export async function scanRows<T extends RowScan>(
  found: readonly T[],
  search: SearchRows,
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

export const domainHasRowsSql = (types: string): string => `
  EXISTS (
    SELECT FROM pg_attribute a
    JOIN pg_class c ON c.oid = a.attrelid
    JOIN pg_type t ON t.oid = k.contypid
    WHERE ${types}
      AND NOT a.attisdropped
      AND c.relkind = 'r'
      AND ${hasRowsSql('c')}
  )
`;

/** The constraint `k` applies to existing rows. */
const holds = `
  CASE
    WHEN k.contypid <> '0' THEN ${domainHasRowsSql('a.atttypid = t.oid')}
    ELSE EXISTS (SELECT FROM pg_class c WHERE c.oid = k.conrelid AND ${hasRowsSql('c')})
  END
`;

/** Rows contain the domain of the constraint inside another type, where no scan looks. */
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
      WHERE ${hasRowsSql('c')}
    )
`;

/** The constraint `k` applies to existing rows, directly or inside another type. */
export const constraintHasRowsSql = (version: number): string => `(${holds} OR (${holdsInside(version)}))`;
