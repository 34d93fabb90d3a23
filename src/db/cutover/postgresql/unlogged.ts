import { ConnectError } from '../../../platform/network-errors.ts';
import type { PostgresqlEndpoint } from '../../../postgresql/endpoint.ts';
import { QueryError } from '../../../postgresql/query-error.ts';
import { quoteLiteral } from '../../../postgresql/quote.ts';
import { describeServers } from './compare.ts';
import { withReadSession } from './sequences.ts';
import { listTablesWithCopiedColumns, queryCatalogRows, type TableWithCopiedColumns } from './tables.ts';

/** An unlogged table that has pages on the source, so probably rows, and none on the target: replication never brings them. */
export interface UnloggedTable {
  readonly database: string;
  /** `schema.table` */
  readonly name: string;
  /** The name as SQL. */
  readonly quoted: string;
}

/**
 * Lists the tables whose rows the comparison would miss after the end of the application, so that they can be settled before it.
 * A database that cannot be read is left out: other lines say so.
 */
export async function listUnlogged(
  source: PostgresqlEndpoint,
  target: PostgresqlEndpoint,
  { ignoreDbs, signal }: { readonly ignoreDbs: readonly string[]; readonly signal: AbortSignal },
): Promise<readonly UnloggedTable[]> {
  const { to, names } = await describeServers(source, target, ignoreDbs, signal);
  const found: UnloggedTable[] = [];
  for (const database of names.filter((name) => to.databases.some((one) => one.name === name))) {
    try {
      const here = await withPages({ ...source, dbname: database }, signal);
      if (here.size === 0) continue;
      const there = await withPages({ ...target, dbname: database }, signal);
      for (const { name, quoted } of here.values()) if (!there.has(name)) found.push({ database, name, quoted });
    } catch (error) {
      if (signal.aborted || !(error instanceof ConnectError || error instanceof QueryError)) throw error;
    }
  }
  return found;
}

/** The unlogged tables of one database that store something, by name: a SELECT could run code of users. */
async function withPages(
  server: PostgresqlEndpoint,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, TableWithCopiedColumns>> {
  return withReadSession(server, server.dbname, signal, async (session) => {
    const found = new Map<string, TableWithCopiedColumns>();
    for (const table of await listTablesWithCopiedColumns(session)) {
      if (!table.isUnlogged) continue;
      const size = `SELECT pg_relation_size(${quoteLiteral(table.quoted)}::regclass) > 0 AS found`;
      if ((await queryCatalogRows(session, size))[0]?.found === 't') found.set(table.name, table);
    }
    return found;
  });
}
