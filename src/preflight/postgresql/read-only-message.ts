import { type PinnedMessage, readOnlyTransaction } from '../../postgresql/pinned-message.ts';

/**
 * One message that cannot write, with settings under which the queries of the preflight have a result.
 * @param version server_version_num; undefined while it is not known
 */
export function readOnlyMessage(queries: readonly string[], version?: number): PinnedMessage {
  return readOnlyTransaction(queries, {
    // A short timeout of the role would end the session; its effect on the copy has a check of its own.
    ...(version !== undefined && version >= transactionTimeoutSince ? { transaction_timeout: '0' } : {}),
    statement_timeout: '15s',
    lock_timeout: '1s',
    // With exit_on_error one denied query would end the session, and the others would have no result.
    exit_on_error: 'off',
    // With the smallest work_mem even pg_settings spills to a temporary file, which temp_file_limit may forbid.
    work_mem: '16MB',
    ...(version !== undefined && version >= jitSince ? { jit: 'off' } : {}),
  });
}

const jitSince = 110_000;
const transactionTimeoutSince = 170_000;
