import { DatabaseConnectError } from '../../platform/connect-error.ts';
import { connectPostgresql, type PostgresqlSession } from '../../postgresql/connection.ts';
import { PostgresqlQueryError } from '../../postgresql/query-error.ts';
import { buildCopyTableTransaction, readTableRows } from '../../postgresql/table-rows.ts';
import type { PreflightQuery, PreflightQueryResult, PreflightQueryResults } from '../query.ts';
import type { AnyPostgresqlPreflightQuery, SourceTableRowSearcher } from './query.ts';
import { buildReadOnlyPreflightTransaction } from './read-only-preflight-transaction.ts';
import type { PostgresqlDatabaseQueryRunOptions } from './run-preflight-queries-in-database.ts';

/** Time limit in milliseconds for searching all tables of one database. */
const searchTimeout = 30_000;

/** Time limit in milliseconds for searching one table; the server cancels its statement after 15 s. */
const tableTimeout = 20_000;

/**
 * Maximum number of bytes that are read from one table. The rows of a table of at most 256 MB can be longer than this,
 * because the table stores them compressed; such a table is not read to its end.
 */
const searchedBytes = 512 * 1024 * 1024;

/**
 * Completes the query results with what a search in the rows of tables found. Connections are opened one at a time, and
 * only when there is a table to search.
 */
export async function completePreflightResultsByRowSearch(
  dbname: string,
  queries: readonly AnyPostgresqlPreflightQuery[],
  results: PreflightQueryResults,
  options: PostgresqlDatabaseQueryRunOptions,
): Promise<PreflightQueryResults> {
  const completed = new Map<AnyPostgresqlPreflightQuery, PreflightQueryResult<unknown>>();
  const tables = createTableSearch(dbname, options);
  try {
    for (const query of queries) {
      const result = results.get(query);
      if (query.searchRows === undefined || result?.kind !== 'known') continue;
      completed.set(query, { kind: 'known', value: await query.searchRows(result.value, tables.search) });
    }
  } finally {
    await tables.end();
  }
  return new Map<PreflightQuery<unknown>, PreflightQueryResult<unknown>>([...results, ...completed]);
}

function createTableSearch(
  dbname: string,
  { source, version, clock, signal, onSend }: PostgresqlDatabaseQueryRunOptions,
): { readonly search: SourceTableRowSearcher; end(): Promise<void> } {
  const end = clock.now() + searchTimeout;
  let session: PostgresqlSession | undefined;
  const close = async () => {
    const open = session;
    session = undefined;
    await open?.end();
  };
  return {
    end: close,
    async search(table, isFound, format) {
      const time = Math.min(end - clock.now(), tableTimeout);
      if (time <= 0 || signal.aborted) return 'unseen';
      try {
        session ??= await connectPostgresql(source, { dbname, limit: time, signal });
        const text = buildReadOnlyPreflightTransaction(buildCopyTableTransaction(table, version, format), version);
        onSend(dbname, text);
        const read = await readTableRows(session, text, isFound, { time, bytes: searchedBytes });
        if (read !== 'complete') await close();
        return read === 'stopped' ? 'violate' : read === 'complete' ? 'fit' : 'unseen';
      } catch (error) {
        // The search has no result if the table is locked or dropped, if it is no longer a table, or if the connection
        // is refused.
        if (!(error instanceof PostgresqlQueryError || error instanceof DatabaseConnectError)) throw error;
        await close();
        return 'unseen';
      }
    },
  };
}
