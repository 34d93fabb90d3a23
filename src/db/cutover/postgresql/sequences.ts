import { nearestWord } from '../../../cli/values.ts';
import { connectPostgresql, type PostgresqlSession } from '../../../postgresql/connection.ts';
import type { PostgresqlEndpoint } from '../../../postgresql/endpoint.ts';
import { databasesToCompare } from '../../preflight/postgresql/each-database.ts';
import { databasesQuery } from '../../preflight/postgresql/queries/cluster.ts';
import { compareSequences } from '../comparison.ts';
import { queryCatalogRows, readPostgresqlServerVersion, readSequenceStatesAsText } from './tables.ts';

/**
 * The sequences whose values differ on the target, as `database: schema.sequence`. The comparison only reads both
 * servers. Rejects with a ConnectError or a QueryError if a server cannot be read.
 */
export async function findSequenceDifferences(
  source: PostgresqlEndpoint,
  target: PostgresqlEndpoint,
  { ignoreDbs, signal }: { readonly ignoreDbs: readonly string[]; readonly signal: AbortSignal },
): Promise<readonly string[]> {
  const names = await withReadSession(source, source.dbname, signal, async (session) => {
    const sql = databasesQuery.sql(await readPostgresqlServerVersion(session), { inRecovery: false, superuser: false });
    return sql === undefined
      ? [source.dbname]
      : databasesToCompare(databasesQuery.decode(await queryCatalogRows(session, sql)), ignoreDbs, nearestWord);
  });
  const differences: string[] = [];
  for (const name of names) {
    const here = await withReadSession(source, name, signal, readSequenceStatesAsText);
    if (here.size === 0) continue;
    const there = await withReadSession(target, name, signal, readSequenceStatesAsText);
    for (const sequence of compareSequences(here, there, here)) {
      if (sequence.state === 'differs') differences.push(`${name}: ${sequence.name}`);
      if (sequence.state === 'not_comparable') differences.push(`${name}: ${sequence.name} (the role may not read it)`);
    }
  }
  return differences;
}

export async function withReadSession<T>(
  server: PostgresqlEndpoint,
  dbname: string,
  signal: AbortSignal,
  work: (session: PostgresqlSession) => Promise<T>,
): Promise<T> {
  const session = await connectPostgresql(server, {
    dbname,
    limit: 10_000,
    signal,
    applicationName: 'cloudctl-cutover',
  });
  try {
    return await work(session);
  } finally {
    await session.end();
  }
}
