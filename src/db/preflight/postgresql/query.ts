import {
  decodeBoolean,
  decodeNumber,
  decodeOptionalNumber,
  decodeOptionalText,
  decodeText,
  decodeTextArray,
  type PostgresqlRow,
} from '../../../postgresql/rows.ts';
import { readOnlySql, type SafeSql } from '../../../postgresql/search-path-safe-sql.ts';
import type { CopyFormat, OrdinaryTable } from '../../../postgresql/table-rows.ts';
import type { PreflightQuery } from '../query.ts';

/**
 * A read-only query of the system catalogs; it names no relation of a user and evaluates no expression of one. The SQL
 * of a query is one SELECT without a semicolon and without parameters, because all queries to one database are sent in
 * one message. Checks join the results in memory.
 */
export interface PostgresqlQuery<T> extends PreflightQuery<T> {
  /** The name of the queried objects, which a report shows when the query fails: `settings`, `slots`. */
  readonly id: string;
  readonly scope: 'server' | 'database';
  /**
   * Returns the SQL for a server version (server_version_num, such as 150008); undefined if this version lacks the
   * catalog object: the value is then `absent`.
   */
  readonly sql: (version: number, context: QueryPreconditions) => string | undefined;
  /**
   * The condition for sending this query, evaluated with the results of the first message. If the condition is true,
   * the query is sent in a second message; otherwise its value is `absent`. Such a query costs the server one or two
   * milliseconds, and most databases do not need it.
   */
  readonly when?: (known: ValueReader, dbname: string) => boolean;
  readonly decode: (rows: readonly PostgresqlRow[]) => T;
  /**
   * Completes the decoded value of the query with the contents of table rows. The rows are read after all queries of
   * the database.
   */
  readonly searchRows?: (value: T, search: RowSearcher) => Promise<T>;
  /** The value of a query that is not sent. */
  readonly absent: T;
  /**
   * If true, the query has the value `absent` when the server denies the query or lacks a function that the query
   * calls.
   */
  readonly mayBeHidden?: boolean;
  /**
   * The GRANT statement that allows `user` to run the query when the server denies it (SQLSTATE 42501); default:
   * membership in the monitoring roles.
   */
  readonly grant?: (user: string) => string;
}

/** A query that returns an element for each row; the list is empty if the query is not sent. */
export function rowsQuery<T>({
  row,
  ...query
}: Omit<PostgresqlQuery<readonly T[]>, 'decode' | 'absent'> & {
  readonly row: (row: PostgresqlRow) => T;
}): PostgresqlQuery<readonly T[]> {
  return { ...query, decode: (rows) => rows.map((one) => row(one)), absent: [] };
}

/** A query that returns one row; its value is that of an empty row if the query is not sent. */
export function rowQuery<T>({
  row,
  ...query
}: Omit<PostgresqlQuery<T>, 'decode' | 'absent'> & {
  readonly row: (row: PostgresqlRow) => T;
}): PostgresqlQuery<T> {
  return { ...query, decode: ([one = {}]) => row(one), absent: row({}) };
}

/** The type of the value of a query. */
export type ValueOf<Q> = Q extends PostgresqlQuery<infer T> ? T : never;

/** The type of the elements of a `rowsQuery`. */
export type RowOf<Q> = Q extends PostgresqlQuery<readonly (infer T)[]> ? T : never;

/** Decodes a row as an object, whose type follows from the decoders of its fields. */
export function columns<F extends Readonly<Record<string, (row: PostgresqlRow) => unknown>>>(fields: F) {
  const entries = Object.entries(fields);
  // The cast is safe: every field of the object is what its decoder returned.
  return (row: PostgresqlRow) =>
    Object.fromEntries(entries.map(([field, decode]) => [field, decode(row)])) as {
      readonly [K in keyof F]: ReturnType<F[K]>;
    };
}

/** Decoders of one column of a row; the columns of a query for older versions may be missing, see `decodeText`. */
export const column = {
  text: ofColumn(decodeText),
  optionalText: ofColumn(decodeOptionalText),
  number: ofColumn(decodeNumber),
  optionalNumber: ofColumn(decodeOptionalNumber),
  boolean: ofColumn(decodeBoolean),
  texts: ofColumn(decodeTextArray),
  /** One of the words, the first one for any other text. */
  oneOf:
    <const T extends string>(name: string, otherwise: T, ...others: readonly T[]) =>
    (row: PostgresqlRow): T =>
      others.find((one) => one === row[name]) ?? otherwise,
};

function ofColumn<T>(decode: (row: PostgresqlRow, name: string) => T) {
  return (name: string) => (row: PostgresqlRow) => decode(row, name);
}

/**
 * Result of a search in a table: `violate`: a row was found; `fit`: the table has no such row; `unseen`: not all rows
 * could be read.
 */
export type RowSearch = 'violate' | 'fit' | 'unseen';

/** Searches a table for a row; `isFound` receives each row in the text format of COPY. */
export type RowSearcher = (
  table: OrdinaryTable,
  isFound: (row: Uint8Array) => boolean,
  format?: CopyFormat,
) => Promise<RowSearch>;

export interface QueryPreconditions {
  /** Whether the server is a standby in recovery, where functions for the current WAL position fail. */
  readonly inRecovery: boolean;
  /** Whether the role is a superuser, which needs no further permission. */
  readonly superuser: boolean;
}

/**
 * Returns the value of a query that was sent in an earlier message, or once for the server before its databases were
 * queried (`planQueries`); undefined if the value is not known.
 */
export type ValueReader = <T>(query: PostgresqlQuery<T>) => T | undefined;

// biome-ignore lint/suspicious/noExplicitAny: queries of any value; each check sees its own types.
export type AnyPostgresqlQuery = PostgresqlQuery<any>;

/** The queries of a check by name; `evaluate` receives their values under the same names. */
export type PostgresqlCheckQueries = Readonly<Record<string, AnyPostgresqlQuery>>;

/**
 * Wraps queries in one read-only transaction, with settings under which the queries of the preflight succeed.
 * @param version server_version_num; undefined while it is not known
 */
export function preflightTransaction(queries: readonly string[], version?: number): SafeSql {
  return readOnlySql(queries, {
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
