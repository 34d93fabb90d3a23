import type { PostgresqlRow } from '../../postgresql/connection.ts';

/**
 * One read-only question to the catalogue. Its SQL is one SELECT without a semicolon and without a parameter; all questions to one
 * database travel in one message, and judges join what came in memory.
 */
export interface PostgresqlQuery<T> {
  /** As in `--show-queries`: `settings`, `slots`. */
  readonly id: string;
  readonly scope: 'server' | 'database';
  /** `version` is server_version_num, as 150008; undefined: this version has no such thing, `absent` is the answer. */
  readonly sql: (version: number, context: PostgresqlQueryContext) => string | undefined;
  /**
   * Asked in a second message, and only when the answers of the first call for it; otherwise `absent` is the answer. A
   * question costs a fresh server process a millisecond or two, which most databases are spared. What was asked of the server
   * before any of its databases is known as well.
   */
  readonly when?: (known: ReadQueryResult, dbname: string) => boolean;
  readonly decode: (rows: readonly PostgresqlRow[]) => T;
  readonly absent: T;
  /** The one statement that would let `user` ask, when the server denies it (42501). */
  readonly grant: (user: string) => string;
}

export interface PostgresqlQueryContext {
  /** The server is in recovery: functions of the current WAL position fail there. */
  readonly inRecovery: boolean;
  /** The role is a superuser, so nothing is forbidden to it. */
  readonly superuser: boolean;
}

/** Reads what the first message answered; undefined: the question has no answer. */
export type ReadQueryResult = <T>(ask: PostgresqlQuery<T>) => T | undefined;

/** What became of a question. */
export type PostgresqlQueryResult<T> =
  | { readonly kind: 'known'; readonly value: T }
  | { readonly kind: 'denied'; readonly reason: string; readonly grant: string }
  | { readonly kind: 'failed'; readonly reason: string }
  /** Never asked, because something before it failed. */
  | { readonly kind: 'skipped'; readonly reason: string };

/** Asks by the name their judge uses. */
// biome-ignore lint/suspicious/noExplicitAny: a record of questions with answers of any type; each judge sees its own types.
export type PostgresqlQueries = Readonly<Record<string, PostgresqlQuery<any>>>;

/** The values of the asks of a check, all known. */
export type PostgresqlQueryValues<A extends PostgresqlQueries> = {
  readonly [K in keyof A]: A[K] extends PostgresqlQuery<infer T> ? T : never;
};
