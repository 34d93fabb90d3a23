import { clientSideDatabaseErrorCodes } from '../../../../platform/connect-error.ts';
import { missingTableCodes } from '../../../../postgresql/read-table-rows-by-copy.ts';
import type { TableToRead } from '../queries/tables-to-read.ts';

/** Why a table was not read to its end. */
export type TableUnreadReason =
  | 'damaged'
  | 'row_too_large'
  | 'row_security'
  | 'no_privilege'
  | 'dropped_or_changed'
  | 'locked'
  | 'recovery_conflict'
  | 'connection_ended'
  | 'no_connection'
  | 'cancelled'
  | 'time_limit'
  | 'out_of_memory'
  | 'other';

/** @param error its code is an SQLSTATE, or one of `clientSideDatabaseErrorCodes` */
export function determineUnreadTableReason(
  { code, message }: { readonly code: string; readonly message: string },
  { isSecured }: Pick<TableToRead, 'isSecured'>,
): TableUnreadReason {
  if (missingTableCodes.has(code)) return 'dropped_or_changed';
  // PostgreSQL reports the same SQLSTATE for a row-level security policy (with row_security = off) and for a missing
  // privilege.
  if (code === '42501') return isSecured ? 'row_security' : 'no_privilege';
  const size = /^invalid memory alloc request size (\d+)$/.exec(message)?.[1];
  // A request for more memory than the largest row needs is caused by damage: the stored length is wrong.
  if (size !== undefined) return Number(size) <= maxRequestedBytes ? 'row_too_large' : 'damaged';
  if (code.startsWith('08')) return 'connection_ended';
  return reasonOfCode.get(code) ?? 'other';
}

/**
 * The memory that a value of 1 GB needs as hexadecimal text (two characters for each byte), plus a reserve for other
 * bytes of the row.
 */
const maxRequestedBytes = 2 ** 31 + 1024;

const reasonOfCode: ReadonlyMap<string, TableUnreadReason> = new Map([
  // data_corrupted, index_corrupted, internal_error, io_error, undefined_file
  ...['XX001', 'XX002', 'XX000', '58030', '58P01'].map((code) => [code, 'damaged'] as const),
  // program_limit_exceeded: "Cannot enlarge string buffer"
  ['54000', 'row_too_large'],
  ['53200', 'out_of_memory'],
  ['55P03', 'locked'],
  ['40001', 'recovery_conflict'],
  ['57014', 'cancelled'],
  ...['57P01', '57P02', '57P03', '25P03', clientSideDatabaseErrorCodes.closed].map(
    (code) => [code, 'connection_ended'] as const,
  ),
  ...[clientSideDatabaseErrorCodes.aborted, clientSideDatabaseErrorCodes.timeout].map(
    (code) => [code, 'time_limit'] as const,
  ),
]);

/** Whether the rows of the table cannot be copied by any migration method. */
export function isTableUncopyable(reason: TableUnreadReason): boolean {
  return reason === 'damaged' || reason === 'row_too_large';
}
