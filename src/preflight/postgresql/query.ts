import type { PostgresqlRow } from '../../postgresql/postgresql-row.ts';
import type { CopyFormat, PlainTable } from '../../postgresql/table-rows.ts';
import type { DecodedQuery } from '../query.ts';

/**
 * A read-only query of the system catalogs; it names no relation of a user and evaluates no expression of one. Its SQL is one SELECT without a semicolon and without parameters: all queries to
 * one database travel in one message, and checks join their results in memory.
 */
export interface PostgresqlQuery<T> extends DecodedQuery<T> {
  /** Named in reports when the query fails: `settings`, `slots`. */
  readonly id: string;
  readonly scope: 'server' | 'database';
  /** `version` is server_version_num (150008). undefined: this version has no such object, and `absent` is the value. */
  readonly sql: (version: number, context: PostgresqlQueryConditions) => string | undefined;
  /**
   * The query is sent in a second message, and only when this returns true for the results of the first; otherwise `absent`
   * is the value. A query costs a new server process one or two milliseconds, which most databases are spared.
   */
  readonly when?: (known: ReadQueryResult, dbname: string) => boolean;
  readonly decode: (rows: readonly PostgresqlRow[]) => T;
  /** Completes the decoded value by what the rows of tables contain. The tables are read after all queries of the database. */
  readonly searchRows?: (value: T, search: SearchRows) => Promise<T>;
  /** The value when the query is not sent. */
  readonly absent: T;
  /** Checks also work without the value: it is `absent` when the server denies the query or does not know the function. */
  readonly mayBeHidden?: boolean;
  /** The statement that allows `user` to run the query when the server denies it (SQLSTATE 42501). */
  readonly grant: (user: string) => string;
}

/** `violate`: a row was found; `fit`: no row of the table; `unseen`: not all rows could be read. */
export type RowSearchResult = 'violate' | 'fit' | 'unseen';

/** Searches a table for a row, which `isFound` receives as COPY writes it. */
export type SearchRows = (
  table: PlainTable,
  isFound: (row: Uint8Array) => boolean,
  format?: CopyFormat,
) => Promise<RowSearchResult>;

export interface PostgresqlQueryConditions {
  /** The server is a standby in recovery, where functions for the current WAL position fail. */
  readonly inRecovery: boolean;
  /** The role is a superuser, so that no permission is missing. */
  readonly superuser: boolean;
}

/** Returns the value of a query of an earlier message, or of the server; undefined: there is none. */
export type ReadQueryResult = <T>(query: PostgresqlQuery<T>) => T | undefined;

// biome-ignore lint/suspicious/noExplicitAny: queries of any value; each check sees its own types.
export type AnyPostgresqlQuery = PostgresqlQuery<any>;

/** The queries of a check, by the name under which `evaluate` receives their values. */
export type PostgresqlQueries = Readonly<Record<string, AnyPostgresqlQuery>>;
