import { buildReadOnlyTransactionSql, type SearchPathSafeSql } from '../../../postgresql/search-path-safe-sql.ts';

/**
 * Wraps queries in one read-only transaction, with settings under which the queries of the preflight succeed.
 * @param version server_version_num; undefined while it is not known
 */
export function buildReadOnlyPreflightTransaction(queries: readonly string[], version?: number): SearchPathSafeSql {
  return buildReadOnlyTransactionSql(queries, {
    // Sets the timeouts for the transaction, because a short timeout that is stored for the role would end the session.
    // Another check reports how the timeout of the role affects the copy.
    ...(version !== undefined && version >= transactionTimeoutSince ? { transaction_timeout: '0' } : {}),
    statement_timeout: '15s',
    lock_timeout: '1s',
    // Turns exit_on_error off: with it one denied query would end the session, and the other queries would have no
    // result.
    exit_on_error: 'off',
    // Sets work_mem, because with the smallest value even pg_settings needs a temporary file, which temp_file_limit may
    // forbid.
    work_mem: '16MB',
    ...(version !== undefined && version >= jitSince ? { jit: 'off' } : {}),
  });
}

const jitSince = 110_000;
const transactionTimeoutSince = 170_000;
