/** https://github.com/constructive-io/libpg-query-node: the two functions that the tests use. Both reject text with a syntax error. */
declare module 'libpg-query' {
  /** The parse tree of SQL statements, as JSON of PostgreSQL's raw parser. */
  export function parse(sql: string): Promise<unknown>;
  /** The PL/pgSQL statements of CREATE FUNCTION commands. */
  export function parsePlPgSQL(sql: string): Promise<unknown>;
}
