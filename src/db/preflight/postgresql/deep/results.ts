import { typeOids } from '../../../../postgresql/catalog-oids.ts';
import type { ForeignKey, ForeignKeyColumn } from '../queries/constraints.ts';
import type { RefusedColumn } from '../queries/refused-values.ts';
import type { ScannedTable } from '../queries/tables.ts';
import { createKeySet, type HashVisitor, type KeyHashes, type KeySet } from './key-hashes.ts';
import {
  type ComparableKey,
  isByteEqual,
  type ScannerOptions,
  type UncheckedIndex,
  type UncheckedReason,
  type UnreadReason,
} from './rows.ts';

/** A table that was not read to its end. */
export interface UnreadTable {
  readonly table: string;
  readonly reason: UnreadReason;
  /** Of the server. */
  readonly message: string;
}

/** A column with values that are not valid in the checked encoding, and the number of its rows with such values. */
export interface InvalidColumn {
  readonly table: string;
  readonly column: string;
  readonly rows: number;
}

/** A column whose values were all tested, or have at least one that is refused. */
export interface TestedColumn {
  readonly column: RefusedColumn;
  readonly isRefused: boolean;
}

/** The columns with the result of reading all rows, where the search in small tables has none. */
export function settleByScan(
  columns: readonly RefusedColumn[],
  scan: Pick<DatabaseScan, 'tested'> | undefined,
): readonly RefusedColumn[] {
  return columns.map((one) => {
    if (one.rows !== 'unseen') return one;
    const found = scan?.tested.find(
      ({ column: { table, column, type, path } }) =>
        table === one.table && column === one.column && type === one.type && path === one.path,
    );
    return found === undefined ? one : { ...one, rows: found.isRefused ? 'violate' : 'fit' };
  });
}

/** Keys that occur in several rows although the index is unique. */
export interface DuplicateKeys {
  readonly index: string;
  readonly table: string;
  readonly columns: readonly string[];
  readonly keys: number;
  /** Number of rows whose key occurs more than once. */
  readonly rows: number;
}

/** The result of reading all rows of a table once. */
export interface TableScan {
  readonly table: string;
  readonly rows: number;
  /** Number of bytes that COPY sent for the rows, including repeated readings. */
  readonly bytes: number;
  readonly longestRow: number;
  /** Milliseconds of the longest of the transactions in which this program read the table. */
  readonly milliseconds: number;
  readonly unread: UnreadTable | undefined;
  readonly invalid: readonly InvalidColumn[];
  readonly tested: readonly TestedColumn[];
  /** Unique indexes whose keys were compared. */
  readonly comparedKeys: number;
  readonly duplicates: readonly DuplicateKeys[];
  readonly unchecked: readonly UncheckedIndex[];
}

/** The result of reading the rows of all tables of a database once. */
export interface DatabaseScan extends OrphanSearch {
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
  readonly invalid: readonly InvalidColumn[];
  readonly tested: readonly TestedColumn[];
  readonly comparedKeys: number;
  readonly duplicates: readonly DuplicateKeys[];
  readonly unchecked: readonly UncheckedIndex[];
}

/** @param encoding of the database */
export function combineScans(encoding: string, scans: readonly TableScan[], foreignKeys?: OrphanSearch): DatabaseScan {
  const sum = (of: (scan: TableScan) => number) => scans.reduce((total, scan) => total + of(scan), 0);
  const most = (of: (scan: TableScan) => number) =>
    scans.reduce<TableScan | undefined>(
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
    tested: scans.flatMap(({ tested }) => tested),
    comparedKeys: sum(({ comparedKeys }) => comparedKeys),
    duplicates: scans.flatMap(({ duplicates }) => duplicates),
    unchecked: scans.flatMap(({ unchecked }) => unchecked),
    ...(foreignKeys ?? { comparedForeignKeys: 0, orphans: [], uncomparedForeignKeys: [] }),
  };
}

/** A database whose tables could not be listed. */
export function failedScan(encoding: string, failure: string): DatabaseScan {
  return { ...combineScans(encoding, []), failure };
}

/**
 * Reads the key columns of all rows again and passes each row as one buffer. Resolves with false if the rows could not
 * be read.
 */
export type KeyRereader = (onKey: ScannerOptions['onKey']) => Promise<boolean>;

export interface DuplicateSearch {
  readonly duplicates: readonly DuplicateKeys[];
  readonly unchecked: readonly UncheckedIndex[];
}

/** Keys with equal hashes that are compared byte by byte. */
const maxConfirmed = 10_000;

/**
 * Finds rows with equal unique keys. A key whose hash occurs once is unique. Rows whose hash occurs more than once are
 * read again and their keys compared byte by byte, so that different keys with equal hashes are not reported.
 */
export async function findDuplicates(
  table: string,
  keys: readonly ComparableKey[],
  hashes: readonly KeyHashes[],
  readKeys: KeyRereader,
): Promise<DuplicateSearch> {
  let repeated = hashes.map((one) => one.repeated());
  const tooMany = keys.filter((_, key) => repeated[key] === undefined);
  const isOpen = (set: KeySet | undefined): boolean => set !== undefined && set.size > 0;
  const unread = (): DuplicateSearch => ({
    duplicates: [],
    unchecked: uncheckedIndexes(table, keys, 'table_not_read'),
  });
  if (hashes.some((one, key) => !one.isExact() && isOpen(repeated[key]))) {
    const counts = repeated.map((set) => new Uint8Array(set?.size ?? 0));
    const isRead = await readKeys((key, high, low) => {
      const position = repeated[key]?.find(high, low) ?? -1;
      if (position >= 0) counts[key]![position] = Math.min(2, counts[key]![position]! + 1);
    });
    if (!isRead) return unread();
    repeated = repeated.map((set, key) => set?.pick((position) => counts[key]![position] === 2));
  }
  const confirmed = repeated.map((set) => set?.pick((position) => position < maxConfirmed));
  const rowsOfKey = keys.map(() => new Map<string, number>());
  if (confirmed.some(isOpen)) {
    const isRead = await readKeys((key, high, low, row) => {
      if ((confirmed[key]?.find(high, low) ?? -1) < 0) return;
      const text = keyText(row, keys[key]!.columns);
      rowsOfKey[key]!.set(text, (rowsOfKey[key]!.get(text) ?? 0) + 1);
    });
    if (!isRead) return unread();
  }
  const duplicates = keys.flatMap(({ index, names }, key) => {
    const counts = [...rowsOfKey[key]!.values()].filter((rows) => rows > 1);
    if (counts.length === 0) return [];
    return [{ index, table, columns: names, keys: counts.length, rows: counts.reduce((sum, rows) => sum + rows, 0) }];
  });
  return { duplicates, unchecked: uncheckedIndexes(table, tooMany, 'too_many_rows') };
}

export function uncheckedIndexes(
  table: string,
  keys: readonly ComparableKey[],
  reason: UncheckedReason,
): readonly UncheckedIndex[] {
  return keys.map(({ index }) => ({ index, table, reason }));
}

/** The columns of a unique key in the text format of COPY, byte for byte. */
function keyText(row: Uint8Array, columns: readonly number[]): string {
  const fields = Buffer.from(row.buffer, row.byteOffset, row.byteLength).toString('latin1').split('\t');
  return columns.map((column) => fields[column]?.replace(/\n$/, '')).join('\t');
}

/** Rows whose foreign key references no row. */
export interface OrphanedRows {
  /** Quoted. */
  readonly name: string;
  readonly table: string;
  readonly parent: string;
  readonly columns: readonly string[];
  readonly parentColumns: readonly string[];
  readonly rows: number;
}

interface UncomparedForeignKey {
  readonly name: string;
  readonly table: string;
  readonly reason: 'type' | 'collation' | 'too_many_rows' | 'table_not_read';
}

export interface OrphanSearch {
  readonly comparedForeignKeys: number;
  readonly orphans: readonly OrphanedRows[];
  readonly uncomparedForeignKeys: readonly UncomparedForeignKey[];
}

/** Calls `onKey` for each row of a table whose columns are not NULL. Resolves with false if it could not be read. */
type KeyReader = (table: ScannedTable, columns: readonly string[], onKey: HashVisitor) => Promise<boolean>;

/** Keys of a referenced table that are kept in memory, at most: 128 MB. */
const maxKeys = 16 * 2 ** 20;
/** Keys without a row that are looked for a second time. */
const maxMissing = 100_000;

/**
 * Compares hashes of the keys of referencing and referenced rows. Both tables are read again if keys are missing: a row
 * that was added meanwhile is then found, and one that was deleted is gone.
 */
export async function findOrphans(
  foreignKeys: readonly ForeignKey[],
  tables: readonly ScannedTable[],
  readKeys: KeyReader,
): Promise<OrphanSearch> {
  const byOid = new Map(tables.map((table) => [table.oid, table]));
  const orphans: OrphanedRows[] = [];
  const uncomparedForeignKeys: UncomparedForeignKey[] = [];
  for (const key of foreignKeys) {
    const child = byOid.get(key.table);
    const parents = key.parents.flatMap((oid) => byOid.get(oid) ?? []);
    if (child === undefined) continue;
    const isComplete = parents.length > 0 && parents.length === key.parents.length;
    const reason = obstacleOf(key.columns) ?? (isComplete ? undefined : 'table_not_read');
    const found = reason ?? (await countOrphans(key, child, parents, readKeys));
    if (typeof found === 'string') uncomparedForeignKeys.push({ name: key.name, table: child.table, reason: found });
    else if (found > 0) {
      orphans.push({
        ...{ name: key.name, table: child.table, parent: key.parent, rows: found },
        columns: key.columns.map(({ name }) => name),
        parentColumns: key.columns.map(({ parentName }) => parentName),
      });
    }
  }
  return { comparedForeignKeys: foreignKeys.length - uncomparedForeignKeys.length, orphans, uncomparedForeignKeys };
}

async function countOrphans(
  { columns }: ForeignKey,
  child: ScannedTable,
  parents: readonly ScannedTable[],
  readKeys: KeyReader,
): Promise<number | UncomparedForeignKey['reason']> {
  const readChild = (onKey: HashVisitor) =>
    readKeys(
      child,
      columns.map(({ name }) => name),
      onKey,
    );
  const readParents = async (onKey: HashVisitor) => {
    for (const parent of parents) {
      if (
        !(await readKeys(
          parent,
          columns.map(({ parentName }) => parentName),
          onKey,
        ))
      )
        return false;
    }
    return true;
  };
  const referenced = createKeySet(maxKeys);
  if (!(await readParents(referenced.add))) return 'table_not_read';
  const known = referenced.set();
  if (known === undefined) return 'too_many_rows';
  const missing = new Set<string>();
  const isRead = await readChild((high, low) => {
    if (known.find(high, low) < 0 && missing.size < maxMissing) missing.add(`${high} ${low}`);
  });
  if (!isRead) return 'table_not_read';
  if (missing.size === 0) return 0;
  let rows = 0;
  const isReadAgain =
    (await readParents((high, low) => void missing.delete(`${high} ${low}`))) &&
    (await readChild((high, low) => {
      if (missing.has(`${high} ${low}`)) rows += 1;
    }));
  return isReadAgain ? rows : 'table_not_read';
}

const integers: readonly number[] = [typeOids.int2, typeOids.int4, typeOids.int8];
const strings: readonly number[] = [typeOids.text, typeOids.varchar];

/** Values of two columns are equal if their texts are: both are integers, or of one type whose equal values have one text. */
function obstacleOf(columns: readonly ForeignKeyColumn[]): UncomparedForeignKey['reason'] | undefined {
  if (columns.some(({ isDeterministic }) => !isDeterministic)) return 'collation';
  const isComparable = columns.every(({ types: [one, other], modifiers }) => {
    const isOfKind = (kind: readonly number[]) => kind.includes(one) && kind.includes(other);
    const isSame = one === other && modifiers[0] === modifiers[1];
    return (
      isOfKind(integers) ||
      isOfKind(strings) ||
      (isSame && isByteEqual({ comparedType: one, typeModifier: modifiers[0] }))
    );
  });
  return isComparable ? undefined : 'type';
}
