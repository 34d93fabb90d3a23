declare const pinned: unique symbol;

/**
 * A message that may be sent: no stored search_path resolves a name in it, and no stored setting changes its effect.
 * Only the functions of this module create a SafeSql, so sending any other statement does not compile.
 */
export type SafeSql = string & { readonly [pinned]: true };

/** Settings of one transaction by name, for example `{ statement_timeout: '15s' }`; names and values are not escaped. */
export type TransactionSettings = Readonly<Record<string, string>>;

/**
 * The owner of a database sets what its sessions begin with: `ALTER DATABASE … SET search_path = evil, pg_catalog` would replace
 * functions and operators, `SET role` would answer as another role, and `default_transaction_deferrable` would wait for the
 * writers. pg_temp is named last: otherwise it comes first, and a temporary pg_class would replace the catalog.
 */
const pin = ['SET LOCAL role TO none', 'SET LOCAL search_path TO pg_catalog, pg_temp'];

/**
 * Settings that change how the server writes names, constants and expressions. A stored `quote_all_identifiers` would
 * write `"public"."t"` for a value of type regclass, `DateStyle` another date into a partition bound. GMT is the one
 * time zone that needs no file. lc_messages is missing, because only a superuser may set it.
 */
const textForm: TransactionSettings = {
  quote_all_identifiers: 'off',
  standard_conforming_strings: 'on',
  datestyle: 'ISO, MDY',
  intervalstyle: 'postgres',
  timezone: 'GMT',
  bytea_output: 'hex',
  extra_float_digits: '3',
  lc_monetary: 'C',
  lc_numeric: 'C',
  lc_time: 'C',
};

/**
 * Builds one message that cannot write, and after which no setting remains: SET without LOCAL would stay in the server
 * session of a pooler, for its next client. The statements of the message are SELECT or COPY … TO STDOUT.
 */
export function readOnlySql(statements: readonly string[], settings: TransactionSettings = {}): SafeSql {
  return readOnlyTransaction(statements, { ...textForm, ...settings });
}

/** The first messages of a session, which products that imitate PostgreSQL without its settings answer too. */
export function probeSql(statement: string): SafeSql {
  return readOnlyTransaction([statement], {});
}

function readOnlyTransaction(statements: readonly string[], settings: TransactionSettings): SafeSql {
  return join([
    'BEGIN ISOLATION LEVEL READ COMMITTED, READ ONLY, NOT DEFERRABLE',
    ...pin,
    ...Object.entries(settings).map(([name, value]) => `SET LOCAL ${name}='${value}'`),
    ...statements.map(withoutBlankLines),
    'COMMIT',
  ]);
}

/** The results of the statements in a `readOnlySql`, without the results of BEGIN, SET and COMMIT. */
export function omitControlResults<T>(sets: readonly T[], statements: number): readonly T[] {
  return sets.slice(-statements - 1, -1);
}

/** Statements that contain no name which a user could define. */
export const rollbackSql = join(['ROLLBACK']);
export const showVersionSql = join(['SHOW VERSION']);
export const identifySystemSql = join(['IDENTIFY_SYSTEM']);

/**
 * The first message of a session that writes, or whose statements cannot run inside a transaction. The message does not
 * begin with a SELECT: a SELECT would resolve names by the search_path, and SET does not.
 */
export const sessionSetupSql = join([
  'SET role TO none',
  'SET search_path TO pg_catalog, pg_temp',
  "SET default_transaction_isolation TO 'read committed'",
  'SET default_transaction_deferrable TO off',
  'SET default_transaction_read_only TO off',
]);

/** Only `makeSessionSafe` may use this function, because its sessions have sent `sessionSetupSql`. */
export function markSafeSql(text: string): SafeSql {
  return join([text]);
}

function join(statements: readonly string[]): SafeSql {
  return statements.join('; ') as SafeSql;
}

/**
 * Removes blank lines and trailing spaces, because --show-queries prints the text of queries that are composed of
 * multi-line parts.
 */
function withoutBlankLines(sql: string): string {
  return sql
    .replace(/[ \t]+$/gm, '')
    .replace(/\n{2,}/g, '\n')
    .trim();
}
