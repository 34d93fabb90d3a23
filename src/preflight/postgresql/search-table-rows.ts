import { ConnectError } from '../../platform/connect-error.ts';
import { connectPostgresql, type PostgresqlSession } from '../../postgresql/connection.ts';
import { QueryError } from '../../postgresql/query-error.ts';
import { copyTableStatements, readRows } from '../../postgresql/table-rows.ts';
import type { DecodedQuery, QueryResult, QueryResults } from '../query.ts';
import type { AnyPostgresqlQuery, SearchRows } from './query.ts';
import type { QueryDatabaseOptions } from './query-database.ts';
import { readOnlyMessage } from './read-only-message.ts';

/** Milliseconds for all tables of one database that are searched. */
const searchTimeout = 30_000;

/** Milliseconds for one table; the server cancels its statement after 15 s. */
const tableTimeout = 20_000;

/** Bytes of rows that are read from one table: a table of 256 MB whose compressed values are larger is not read to its end. */
const searchedBytes = 512 * 1024 * 1024;

/**
 * The results, completed by queries that search rows of tables. Connections are opened only when there is a table to search,
 * one at a time.
 */
export async function searchTableRows(
  dbname: string,
  queries: readonly AnyPostgresqlQuery[],
  results: QueryResults,
  options: QueryDatabaseOptions,
): Promise<QueryResults> {
  const completed = new Map<AnyPostgresqlQuery, QueryResult<unknown>>();
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
  return new Map<DecodedQuery<unknown>, QueryResult<unknown>>([...results, ...completed]);
}

function createTableSearch(
  dbname: string,
  { source, version, clock, signal, onSend }: QueryDatabaseOptions,
): { readonly search: SearchRows; end(): Promise<void> } {
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
        const text = readOnlyMessage(copyTableStatements(table, version, format), version);
        onSend(dbname, text);
        const read = await readRows(session, text, isFound, { time, bytes: searchedBytes });
        if (read !== 'complete') await close();
        return read === 'stopped' ? 'violate' : read === 'complete' ? 'fit' : 'unseen';
      } catch (error) {
        // A table that is locked, dropped or no longer a table, or a connection that is refused: the rows are not known.
        if (!(error instanceof QueryError || error instanceof ConnectError)) throw error;
        await close();
        return 'unseen';
      }
    },
  };
}
