import type { ComparableUniqueKey, UncheckedUniqueIndex, UncheckedUniqueKeyReason } from './plan-table-scan.ts';
import type { RowKeyAndEncodingScannerOptions } from './row-key-and-encoding-scanner.ts';
import type { DuplicateUniqueKeys } from './scanned-row-statistics.ts';
import type { UniqueKeyHashes, UniqueKeyHashSet } from './unique-key-hashes.ts';

/**
 * Reads the key columns of all rows again and passes each row as one buffer. Resolves with false if the rows could not
 * be read.
 */
export type UniqueKeyRereader = (onKey: RowKeyAndEncodingScannerOptions['onKey']) => Promise<boolean>;

export interface DuplicateUniqueKeySearchResult {
  readonly duplicates: readonly DuplicateUniqueKeys[];
  readonly unchecked: readonly UncheckedUniqueIndex[];
}

/** Keys with equal hashes that are compared byte by byte. */
const maxConfirmed = 10_000;

/**
 * Finds rows with equal unique keys. A key whose hash occurs once is unique. Rows whose hash occurs more than once are
 * read again and their keys compared byte by byte, so that different keys with equal hashes are not reported.
 */
export async function findDuplicateUniqueKeys(
  table: string,
  keys: readonly ComparableUniqueKey[],
  hashes: readonly UniqueKeyHashes[],
  readKeys: UniqueKeyRereader,
): Promise<DuplicateUniqueKeySearchResult> {
  let repeated = hashes.map((one) => one.repeated());
  const tooMany = keys.filter((_, key) => repeated[key] === undefined);
  const isOpen = (set: UniqueKeyHashSet | undefined): boolean => set !== undefined && set.size > 0;
  const unread = (): DuplicateUniqueKeySearchResult => ({
    duplicates: [],
    unchecked: buildUncheckedUniqueIndexes(table, keys, 'table_not_read'),
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
  return { duplicates, unchecked: buildUncheckedUniqueIndexes(table, tooMany, 'too_many_rows') };
}

export function buildUncheckedUniqueIndexes(
  table: string,
  keys: readonly ComparableUniqueKey[],
  reason: UncheckedUniqueKeyReason,
): readonly UncheckedUniqueIndex[] {
  return keys.map(({ index }) => ({ index, table, reason }));
}

/** The columns of a unique key in the text format of COPY, byte for byte. */
function keyText(row: Uint8Array, columns: readonly number[]): string {
  const fields = Buffer.from(row.buffer, row.byteOffset, row.byteLength).toString('latin1').split('\t');
  return columns.map((column) => fields[column]?.replace(/\n$/, '')).join('\t');
}
