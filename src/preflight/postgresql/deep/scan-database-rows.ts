import { DatabaseConnectError } from '../../../platform/connect-error.ts';
import { connectPostgresql, type PostgresqlSession } from '../../../postgresql/connection.ts';
import { getPreflightQueryValue } from '../../query.ts';
import { foreignKeysQuery } from '../queries/foreign-keys.ts';
import { type TableToRead, tablesToReadQuery } from '../queries/tables-to-read.ts';
import { type UniqueIndex, uniqueIndexesQuery } from '../queries/unique-indexes.ts';
import {
  isTransientDatabaseErrorCode,
  type PostgresqlDatabaseQueryRunOptions,
  runPreflightQueriesInDatabase,
} from '../run-preflight-queries-in-database.ts';
import { getEncodingByteClass } from './byte-validator.ts';
import { buildUncheckedUniqueIndexes } from './find-duplicate-unique-keys.ts';
import { findOrphans, type OrphanSearchResult } from './find-orphans.ts';
import { planTableScan } from './plan-table-scan.ts';
import { readKeyHashes, type ScanTableRowsOptions, scanTableRows } from './scan-table-rows.ts';
import {
  buildFailedDatabaseScan,
  combineTableScanResults,
  type DatabaseScanResult,
  type TableScanResult,
} from './scanned-row-statistics.ts';
import type { TableUnreadReason } from './table-unread-reason.ts';

export interface ScanDatabaseRowsOptions extends Pick<ScanTableRowsOptions, 'seeds' | 'pace' | 'now'> {
  /** Aborting the member `signal` ends the reading. */
  readonly query: PostgresqlDatabaseQueryRunOptions;
  /** Called before a table is read; `position` begins with 1. */
  readonly onTable: (table: string, position: number, total: number) => void;
}

/**
 * Reads every table of a database, one after the other. Tables that cannot be read are listed in the result with the
 * reason.
 */
export async function scanDatabaseRows(
  dbname: string,
  encoding: string,
  options: ScanDatabaseRowsOptions,
): Promise<DatabaseScanResult> {
  const { access, results } = await runPreflightQueriesInDatabase(
    dbname,
    [tablesToReadQuery, uniqueIndexesQuery, foreignKeysQuery],
    options.query,
  );
  const tables = getPreflightQueryValue(results, tablesToReadQuery);
  const indexes = getPreflightQueryValue(results, uniqueIndexesQuery);
  if (tables === undefined || indexes === undefined) {
    const result = [tablesToReadQuery, uniqueIndexesQuery].map((query) => results.get(query));
    const reason = result.flatMap((one) => (one !== undefined && 'reason' in one ? [one.reason] : []))[0];
    return buildFailedDatabaseScan(
      encoding,
      reason ?? ('message' in access ? access.message : 'the server returned no result'),
    );
  }
  const indexesOf = new Map<number, UniqueIndex[]>();
  for (const index of indexes) indexesOf.set(index.table, [...(indexesOf.get(index.table) ?? []), index]);
  const foreignKeys = getPreflightQueryValue(results, foreignKeysQuery) ?? [];
  let orphans: OrphanSearchResult | undefined;
  const scans: TableScanResult[] = [];
  const connection = createConnection(dbname, options.query);
  try {
    for (const [at, table] of tables.entries()) {
      const plan = planTableScan(table, indexesOf.get(table.oid) ?? []);
      options.onTable(table.table, at + 1, tables.length);
      const session = await connection.open();
      if (session instanceof DatabaseConnectError) {
        const { aborted } = options.query.signal;
        scans.push(unreadScan(table, plan, aborted ? 'time_limit' : 'no_connection', session.message));
        continue;
      }
      const { scan, isLost } = await scanTableRows(session, table, plan, tableOptions(dbname, encoding, options));
      scans.push(scan);
      if (isLost) await connection.close();
    }
    const scanOptions = tableOptions(dbname, encoding, options);
    orphans = await findOrphans(foreignKeys, tables, async (table, columns, onKey) => {
      const session = await connection.open();
      if (session instanceof DatabaseConnectError) return false;
      const error = await readKeyHashes(session, table, columns, onKey, scanOptions);
      if (error?.lost === true) await connection.close();
      return error === undefined;
    });
  } finally {
    await connection.close();
  }
  return combineTableScanResults(encoding, scans, orphans);
}

function tableOptions(
  dbname: string,
  encoding: string,
  { query, seeds, pace, now }: ScanDatabaseRowsOptions,
): ScanTableRowsOptions {
  return {
    version: query.version,
    seeds,
    now,
    onSend: (text) => query.onSend(dbname, text),
    // A database with SQL_ASCII accepts any bytes, but a target with another encoding may reject them, so its rows are
    // checked as UTF-8.
    encoding: encoding === 'SQL_ASCII' ? 'UTF8' : getEncodingByteClass(encoding) === 'multibyte' ? encoding : undefined,
    ...(pace === undefined ? {} : { pace }),
  };
}

function unreadScan(
  { table }: TableToRead,
  { unchecked, keys }: ReturnType<typeof planTableScan>,
  reason: TableUnreadReason,
  message: string,
): TableScanResult {
  return {
    ...{ table, rows: 0, bytes: 0, longestRow: 0, milliseconds: 0, invalid: [], comparedKeys: 0, duplicates: [] },
    unread: { table, reason, message },
    unchecked: [...unchecked, ...buildUncheckedUniqueIndexes(table, keys, 'table_not_read')],
  };
}

interface ScanConnection {
  /** The open session, or why there is none. */
  open(): Promise<PostgresqlSession | DatabaseConnectError>;
  close(): Promise<void>;
}

/**
 * Connects when a table is to be read, and again after a connection was lost. Once the server could not be reached, every
 * further call returns the same error.
 */
function createConnection(
  dbname: string,
  { source, clock, signal, memory }: PostgresqlDatabaseQueryRunOptions,
): ScanConnection {
  let session: PostgresqlSession | undefined;
  let failure: DatabaseConnectError | undefined;
  const connect = async (triesLeft: number): Promise<PostgresqlSession | DatabaseConnectError> => {
    try {
      return await connectPostgresql(source, { dbname, limit: connectTimeout, signal, memory });
    } catch (error) {
      if (!(error instanceof DatabaseConnectError)) throw error;
      if (!isTransientDatabaseErrorCode(error.code) || triesLeft === 0 || signal.aborted) return error;
      await clock.sleep(1000, signal).catch(() => {});
      return connect(triesLeft - 1);
    }
  };
  return {
    async open() {
      if (session !== undefined) return session;
      if (failure !== undefined) return failure;
      // Tries to connect for about 10 s, because a server that crashed or was restarted needs some seconds until it
      // accepts connections.
      const opened = await connect(10);
      if (opened instanceof DatabaseConnectError) failure = opened;
      else session = opened;
      return opened;
    },
    async close() {
      const open = session;
      session = undefined;
      await open?.end();
    },
  };
}

const connectTimeout = 10_000;
