import { connectErrorCodes } from '../platform/connect-error.ts';
import type { PostgresqlSession } from './connection.ts';
import {
  type PinnedMessage,
  readOnlyTransaction,
  rollbackMessage,
  type TransactionSettings,
} from './pinned-message.ts';
import { QueryError } from './query-error.ts';
import { copyTableStatements, type PlainTable, type ReadRowsLimits, readRows } from './table-rows.ts';

export interface ReadTableOptions extends Pick<ReadRowsLimits, 'time' | 'pace'> {
  /** server_version_num. */
  readonly version: number;
  readonly settings: TransactionSettings;
  /** Called with the message before it is sent. */
  readonly onSend?: (message: PinnedMessage) => void;
}

/**
 * Passes the rows of a table, in the text format of COPY and large ones in parts, to `visit`. Resolves with the error of a
 * table that cannot be read; the session can then be used again. @throws QueryError when the session is lost
 */
export async function readTable(
  session: Pick<PostgresqlSession, 'query' | 'copyOut' | 'end'>,
  table: PlainTable,
  visit: (part: Uint8Array) => void,
  { version, settings, time, pace, onSend }: ReadTableOptions,
): Promise<QueryError | undefined> {
  const message = readOnlyTransaction(copyTableStatements(table, version), settings);
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
    const end = await readRows(session, message, visitAll, limits);
    if (end === 'complete') return undefined;
    const reason = `the rows of ${table.schema}.${table.name} were not read within ${(time ?? 0) / 1000} s`;
    throw new QueryError(connectErrorCodes.timeout, reason, true);
  } catch (error) {
    if (!(error instanceof QueryError) || error.lost) throw error;
    await session.query(rollbackMessage);
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
export function textFormatSettings(version: number, oldest: number): TransactionSettings {
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
