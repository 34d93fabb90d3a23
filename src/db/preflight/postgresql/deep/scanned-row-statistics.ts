import type { OrphanSearchResult } from './find-orphans.ts';
import type { UncheckedUniqueIndex } from './plan-table-scan.ts';
import type { TableUnreadReason } from './table-unread-reason.ts';

/** A table that was not read to its end. */
export interface UnreadTable {
  readonly table: string;
  readonly reason: TableUnreadReason;
  /** Of the server. */
  readonly message: string;
}

/** A column with values that are not valid in the checked encoding, and the number of its rows with such values. */
export interface InvalidEncodingColumn {
  readonly table: string;
  readonly column: string;
  readonly rows: number;
}

/** Keys that occur in several rows although the index is unique. */
export interface DuplicateUniqueKeys {
  readonly index: string;
  readonly table: string;
  readonly columns: readonly string[];
  readonly keys: number;
  /** Number of rows whose key occurs more than once. */
  readonly rows: number;
}

/** The result of reading all rows of a table once. */
export interface TableScanResult {
  readonly table: string;
  readonly rows: number;
  /** Number of bytes that COPY sent for the rows, including repeated readings. */
  readonly bytes: number;
  readonly longestRow: number;
  /** Milliseconds of the longest of the transactions in which this program read the table. */
  readonly milliseconds: number;
  readonly unread: UnreadTable | undefined;
  readonly invalid: readonly InvalidEncodingColumn[];
  /** Unique indexes whose keys were compared. */
  readonly comparedKeys: number;
  readonly duplicates: readonly DuplicateUniqueKeys[];
  readonly unchecked: readonly UncheckedUniqueIndex[];
}

/** The result of reading the rows of all tables of a database once. */
export interface DatabaseScanResult extends OrphanSearchResult {
  /** The encoding of the database, as pg_encoding_to_char() names it. */
  readonly encoding: string;
  /** Why the tables of the database could not be listed; undefined if they were listed. */
  readonly failure: string | undefined;
  readonly tables: number;
  readonly rows: number;
  readonly bytes: number;
  readonly longestRow: { readonly table: string; readonly bytes: number } | undefined;
  readonly longestSnapshot: { readonly table: string; readonly milliseconds: number } | undefined;
  readonly unread: readonly UnreadTable[];
  readonly invalid: readonly InvalidEncodingColumn[];
  readonly comparedKeys: number;
  readonly duplicates: readonly DuplicateUniqueKeys[];
  readonly unchecked: readonly UncheckedUniqueIndex[];
}

/** @param encoding of the database */
export function combineTableScanResults(
  encoding: string,
  scans: readonly TableScanResult[],
  foreignKeys?: OrphanSearchResult,
): DatabaseScanResult {
  const sum = (of: (scan: TableScanResult) => number) => scans.reduce((total, scan) => total + of(scan), 0);
  const most = (of: (scan: TableScanResult) => number) =>
    scans.reduce<TableScanResult | undefined>(
      (best, scan) => (best === undefined || of(scan) > of(best) ? scan : best),
      undefined,
    );
  const longest = most(({ longestRow }) => longestRow);
  const slowest = most(({ milliseconds }) => milliseconds);
  return {
    encoding,
    failure: undefined,
    tables: scans.length,
    rows: sum(({ rows }) => rows),
    bytes: sum(({ bytes }) => bytes),
    longestRow: longest === undefined ? undefined : { table: longest.table, bytes: longest.longestRow },
    longestSnapshot: slowest === undefined ? undefined : { table: slowest.table, milliseconds: slowest.milliseconds },
    unread: scans.flatMap(({ unread }) => unread ?? []),
    invalid: scans.flatMap(({ invalid }) => invalid),
    comparedKeys: sum(({ comparedKeys }) => comparedKeys),
    duplicates: scans.flatMap(({ duplicates }) => duplicates),
    unchecked: scans.flatMap(({ unchecked }) => unchecked),
    ...(foreignKeys ?? { comparedForeignKeys: 0, orphans: [], uncomparedForeignKeys: [] }),
  };
}

/** A database whose tables could not be listed. */
export function buildFailedDatabaseScan(encoding: string, failure: string): DatabaseScanResult {
  return { ...combineTableScanResults(encoding, []), failure };
}
