import type { SafeSql } from '../../src/postgresql/search-path-safe-sql.ts';

/** A message that the program could not send: tests of the connection itself send others than its own. */
export function anyMessage(text: string): SafeSql {
  return text as SafeSql;
}
