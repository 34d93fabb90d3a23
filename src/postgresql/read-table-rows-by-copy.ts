import { clientSideDatabaseErrorCodes } from '../platform/connect-error.ts';
import type { PostgresqlSession } from './connection.ts';
import { PostgresqlQueryError } from './query-error.ts';
import {
  buildReadOnlyTransactionSql,
  type SearchPathSafeSql,
  searchPathSafeRollbackSql,
  type TransactionSettings,
} from './search-path-safe-sql.ts';
import {
  buildCopyTableTransaction,
  type OrdinaryTable,
  type ReadTableRowsLimits,
  readTableRows,
} from './table-rows.ts';

export interface ReadTableOptions extends Pick<ReadTableRowsLimits, 'time' | 'pace'> {
  /** server_version_num. */
  readonly version: number;
  readonly settings: TransactionSettings;
  /** Called with each SQL message before the message is sent. */
  readonly onSend?: (message: SearchPathSafeSql) => void;
}

/**
 * Passes the rows of a table, in the text format of COPY and large ones in parts, to `visit`. Resolves with the error of a
 * table that cannot be read; the session can then be used again. @throws QueryError when the session is lost
 */
export async function readTableRowsByCopy(
  session: Pick<PostgresqlSession, 'query' | 'copyOut' | 'end'>,
  table: OrdinaryTable,
  visit: (part: Uint8Array) => void,
  { version, settings, time, pace, onSend }: ReadTableOptions,
): Promise<PostgresqlQueryError | undefined> {
  const message = buildReadOnlyTransactionSql(buildCopyTableTransaction(table, version), settings);
  const visitAll = (part: Uint8Array) => {
    visit(part);
    return false;
  };
  onSend?.(message);
  try {
    const limits = {
      messages: 'parts',
      ...(time === undefined ? {} : { time }),
      ...(pace === undefined ? {} : { pace }),
    } as const;
    const end = await readTableRows(session, message, visitAll, limits);
    if (end === 'complete') return undefined;
    const reason = `the rows of ${table.schema}.${table.name} were not read within ${(time ?? 0) / 1000} s`;
    throw new PostgresqlQueryError(clientSideDatabaseErrorCodes.timeout, reason, true);
  } catch (error) {
    if (!(error instanceof PostgresqlQueryError) || error.lost) throw error;
    await session.query(searchPathSafeRollbackSql);
    return error;
  }
}

/** SQLSTATEs of a missing table or column: undefined_table, undefined_column, invalid_schema_name, wrong_object_type. */
export const missingTableCodes: ReadonlySet<string> = new Set(['42P01', '42703', '3F000', '42809']);

/**
 * With these settings two servers write equal values as equal texts. Servers before PostgreSQL 12 write floating-point
 * numbers with other digits, except the first 15. The settings remove timeouts that would end a long COPY, and limit
 * the wait for the lock of a table to one minute.
 */
export function buildComparableTextSettings(version: number, oldest: number): TransactionSettings {
  return {
    datestyle: 'ISO, MDY',
    timezone: 'UTC',
    intervalstyle: 'postgres',
    bytea_output: 'hex',
    extra_float_digits: oldest < 120_000 ? '0' : '3',
    lc_monetary: 'C',
    quote_all_identifiers: 'off',
    statement_timeout: '0',
    lock_timeout: '60s',
    ...(version < 170_000 ? {} : { transaction_timeout: '0' }),
  };
}
