/**
 * One message of the simple query protocol that cannot write and leaves no setting behind: SET without LOCAL would stay in the
 * server session of a pooler, for its next client.
 * @param version server_version_num; undefined while it is not known
 */
export function readOnlyMessage(queries: readonly string[], version?: number): string {
  const guards = [
    'BEGIN READ ONLY',
    // A short timeout of the role would end the session; its effect on the copy has a check of its own.
    ...(version !== undefined && version >= transactionTimeoutSince ? ["SET LOCAL transaction_timeout='0'"] : []),
    "SET LOCAL statement_timeout='15s'",
    "SET LOCAL lock_timeout='1s'",
    // With exit_on_error one denied query would end the session, and the others would have no result.
    'SET LOCAL exit_on_error=off',
    // With the smallest work_mem even pg_settings spills to a temporary file, which temp_file_limit may forbid.
    "SET LOCAL work_mem='16MB'",
    // Unless it is listed, pg_temp comes first: a temporary pg_class of a login trigger would replace the catalog.
    'SET LOCAL search_path=pg_catalog,pg_temp',
    ...(version !== undefined && version >= jitSince ? ['SET LOCAL jit=off'] : []),
  ];
  return [...guards, ...queries.map(withoutBlankLines), 'COMMIT'].join('; ');
}

/** Queries are composed of multi-line parts, which leave blank lines and trailing spaces; --show-queries prints the text. */
function withoutBlankLines(sql: string): string {
  return sql
    .replace(/[ \t]+$/gm, '')
    .replace(/\n{2,}/g, '\n')
    .trim();
}

/** The result sets of the queries, without those of the statements around them. */
export function queryResultSets<T>(sets: readonly T[], queries: number): readonly T[] {
  return sets.slice(-queries - 1, -1);
}

const jitSince = 110_000;
const transactionTimeoutSince = 170_000;
