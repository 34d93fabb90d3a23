/**
 * One message of the simple protocol that cannot write and leaves no setting behind: SET without LOCAL would stay in a
 * pooler's server connection for the next application.
 * @param version server_version_num; undefined while it is not known
 */
export function readOnlyMessage(queries: readonly string[], version?: number): string {
  const guards = [
    'BEGIN READ ONLY',
    // A short one of the role ends the session, and what it does to the copies would never be judged.
    ...(version !== undefined && version >= transactionTimeoutSince ? ["SET LOCAL transaction_timeout='0'"] : []),
    "SET LOCAL statement_timeout='15s'",
    "SET LOCAL lock_timeout='1s'",
    // Else one question that is denied ends the session, and the others stay without an answer.
    'SET LOCAL exit_on_error=off',
    // Even the list of the settings is too much for the least of it, and a temporary file may be forbidden.
    "SET LOCAL work_mem='16MB'",
    // Unless it is named, pg_temp comes first: a temporary pg_class of a login trigger or a pooled session would answer.
    'SET LOCAL search_path=pg_catalog,pg_temp',
    ...(version !== undefined && version >= jitSince ? ['SET LOCAL jit=off'] : []),
  ];
  return [...guards, ...queries.map(withoutBlankLines), 'COMMIT'].join('; ');
}

/** Queries are put together from multi-line parts, which leave blank lines and trailing spaces; --show-queries prints the text. */
function withoutBlankLines(sql: string): string {
  return sql
    .replace(/[ \t]+$/gm, '')
    .replace(/\n{2,}/g, '\n')
    .trim();
}

/** The answers of the queries, from those of the whole message. */
export function queryResultSets<T>(sets: readonly T[], queries: number): readonly T[] {
  return sets.slice(-queries - 1, -1);
}

const jitSince = 110000;
const transactionTimeoutSince = 170000;
