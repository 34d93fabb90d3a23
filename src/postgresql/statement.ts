import type { Client, Submittable } from './pg.ts';
import type { PostgresqlRow } from './rows.ts';
import type { SafeSql } from './search-path-safe-sql.ts';

/** Receives the messages of a COPY, which the package pg delivers one by one. */
export type CopyHandler = Omit<Submittable, 'submit'>;

/**
 * Sends statements in one message of the simple query protocol
 * (https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-SIMPLE-QUERY). Every statement of the
 * program is sent by this function, and a `SafeSql` exists only for text that sets role and search_path first, or
 * that is sent after such a text.
 * @param copy receives the messages of a COPY statement; the result is then empty
 * @returns the rows of each statement, in order; values are text or null, as the server wrote them
 */
export async function sendStatement(
  client: Client,
  text: SafeSql,
  copy?: CopyHandler,
): Promise<readonly (readonly PostgresqlRow[])[]> {
  if (copy !== undefined) {
    client.query({ ...copy, submit: (connection) => connection.query(text) });
    return [];
  }
  const response = await client.query({ text, types: asText });
  return 'rows' in response ? [response.rows] : response.map(({ rows }) => rows);
}

const asText = { getTypeParser: () => (value: string) => value };
