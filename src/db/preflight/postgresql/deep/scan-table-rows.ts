import type { PostgresqlSession } from '../../../../postgresql/connection.ts';
import { PostgresqlQueryError } from '../../../../postgresql/query-error.ts';
import {
  buildComparableTextSettings,
  type ReadTableOptions,
  readTableRowsByCopy,
} from '../../../../postgresql/read-table-rows-by-copy.ts';
import type { TableToRead } from '../queries/tables-to-read.ts';
import {
  buildUncheckedUniqueIndexes,
  type DuplicateUniqueKeySearchResult,
  findDuplicateUniqueKeys,
  type UniqueKeyRereader,
} from './find-duplicate-unique-keys.ts';
import type { TableScanPlan } from './plan-table-scan.ts';
import {
  createRowKeyAndEncodingScanner,
  joinCopyRowParts,
  type RowKeyAndEncodingScanner,
  type RowKeyAndEncodingScannerOptions,
  type ScannedRowStatistics,
} from './row-key-and-encoding-scanner.ts';
import type { TableScanResult } from './scanned-row-statistics.ts';
import { determineUnreadTableReason } from './table-unread-reason.ts';
import { createUniqueKeyHashes } from './unique-key-hashes.ts';

export interface ScanTableRowsOptions extends Pick<ReadTableOptions, 'version' | 'pace' | 'onSend'> {
  /** The encoding that the rows must be valid in; undefined: they are not checked. */
  readonly encoding: string | undefined;
  /** Random numbers for the hashes of keys. */
  readonly seeds: readonly [number, number];
  /** Milliseconds. */
  readonly now: () => number;
}

type ReadingSession = Pick<PostgresqlSession, 'query' | 'copyOut' | 'end'>;

/**
 * Reads the rows of a table in one transaction. The columns of a key are read a second time only if another key has the
 * same hash. For a table that cannot be read, the result contains the reason. `isLost`: whether the session is closed.
 */
export async function scanTableRows(
  session: ReadingSession,
  table: TableToRead,
  plan: TableScanPlan,
  options: ScanTableRowsOptions,
): Promise<{ readonly scan: TableScanResult; readonly isLost: boolean }> {
  const { version, pace, onSend, now, seeds, encoding } = options;
  const settings = settingsOfScan(version);
  let bytes = 0;
  let milliseconds = 0;
  let error: PostgresqlQueryError | undefined;
  const read = async (
    columns: readonly string[],
    scanned: Omit<RowKeyAndEncodingScannerOptions, 'seeds'>,
    asReceived: (add: RowKeyAndEncodingScanner['add']) => RowKeyAndEncodingScanner['add'] = (add) => add,
  ): Promise<ScannedRowStatistics> => {
    const scanner = createRowKeyAndEncodingScanner({ ...scanned, seeds });
    const visit = asReceived(scanner.add);
    const began = now();
    try {
      error = await readTableRowsByCopy(session, { schema: table.schema, name: table.name, columns }, visit, {
        ...{ version, settings },
        ...(pace === undefined ? {} : { pace }),
        ...(onSend === undefined ? {} : { onSend }),
      });
    } catch (failure) {
      if (!(failure instanceof PostgresqlQueryError)) throw failure;
      error = failure;
    }
    bytes += scanner.found.bytes;
    milliseconds = Math.max(milliseconds, now() - began);
    return scanner.found;
  };
  const hashes = plan.keys.map(() => createUniqueKeyHashes(keyMemory / plan.keys.length));
  const { keyColumns, keys } = plan;
  const found = await read(plan.columns, {
    ...{ keyColumns, keys, encoding },
    onKey: (key, high, low) => hashes[key]!.add(high, low),
  });
  const readKeys: UniqueKeyRereader = async (onKey) => {
    await read(plan.columns.slice(0, keyColumns), { keyColumns, keys, onKey }, joinCopyRowParts);
    return error === undefined;
  };
  const compared: DuplicateUniqueKeySearchResult =
    error === undefined
      ? await findDuplicateUniqueKeys(table.table, keys, hashes, readKeys)
      : { duplicates: [], unchecked: buildUncheckedUniqueIndexes(table.table, keys, 'table_not_read') };
  return {
    isLost: error?.lost === true,
    scan: {
      table: table.table,
      rows: found.rows,
      longestRow: found.longestRow,
      bytes,
      milliseconds,
      unread: unreadTable(table, error),
      invalid: [...found.invalid].map(([column, rows]) => ({
        table: table.table,
        column: plan.columns[column] ?? '',
        rows,
      })),
      comparedKeys: keys.length - compared.unchecked.length,
      duplicates: compared.duplicates,
      unchecked: [...plan.unchecked, ...compared.unchecked],
    },
  };
}

/** Reads the given columns of a table, whose hashes `onKey` receives. Resolves with the error of a table that cannot be read. */
export async function readKeyHashes(
  session: ReadingSession,
  { schema, name }: TableToRead,
  columns: readonly string[],
  onKey: (high: number, low: number) => void,
  { version, pace, onSend, seeds }: ScanTableRowsOptions,
): Promise<PostgresqlQueryError | undefined> {
  const scanner = createRowKeyAndEncodingScanner({
    ...{ seeds, keyColumns: columns.length, keys: [{ columns: columns.map((_, at) => at), nullsEqual: false }] },
    onKey: (_key, high, low) => onKey(high, low),
  });
  try {
    return await readTableRowsByCopy(session, { schema, name, columns }, joinCopyRowParts(scanner.add), {
      ...{ version, settings: settingsOfScan(version) },
      ...(pace === undefined ? {} : { pace }),
      ...(onSend === undefined ? {} : { onSend }),
    });
  } catch (failure) {
    if (failure instanceof PostgresqlQueryError) return failure;
    throw failure;
  }
}

/** If client_encoding is SQL_ASCII, the server converts no text, so the bytes arrive as they are stored. */
function settingsOfScan(version: number): Readonly<Record<string, string>> {
  return { ...buildComparableTextSettings(version, version), client_encoding: 'SQL_ASCII', lock_timeout: '5s' };
}

/** Bytes of memory for comparing the unique keys of one table. */
const keyMemory = 256 * 2 ** 20;

function unreadTable(table: TableToRead, error: PostgresqlQueryError | undefined): TableScanResult['unread'] {
  if (error === undefined) return undefined;
  return { table: table.table, reason: determineUnreadTableReason(error, table), message: error.message };
}
