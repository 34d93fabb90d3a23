import { CliError } from '../../../base/errors.ts';
import type { Clock } from '../../../platform/host.ts';
import { createDatabaseResponseMemoryLimit } from '../../../platform/response-memory.ts';
import type { PostgresqlEndpoint } from '../../../postgresql/endpoint.ts';
import { unreachableHint } from '../../source/index.ts';
import { getPreflightQueryValue } from '../query.ts';
import type { NearestWordFinder } from '../unknown-check-ids.ts';
import { openPostgresqlSource } from './open-postgresql-source.ts';
import { databasesQuery } from './queries/databases.ts';
import type { PostgresqlPreflightQuery } from './query.ts';
import {
  type PostgresqlDatabaseQueryRunOptions,
  runPreflightQueriesInDatabase,
  runQueriesOnOpenSession,
} from './run-preflight-queries-in-database.ts';
import { selectDatabasesToMigrate } from './select-databases.ts';

export interface RunQueryInEachDatabaseOptions {
  readonly source: PostgresqlEndpoint;
  readonly ignoreDbs: readonly string[];
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly nearest: NearestWordFinder;
}

type PerDatabaseQueryResult<T> =
  | { readonly database: string; readonly value: T }
  /** Why the query has no value. */
  | { readonly database: string; readonly failure: string };

/** Runs one query in every database to be migrated, one after the other. */
export async function runPreflightQueryInEachDatabase<T>(
  options: RunQueryInEachDatabaseOptions,
  query: PostgresqlPreflightQuery<T>,
): Promise<readonly PerDatabaseQueryResult<T>[]> {
  const { signal, clock } = options;
  const memory = createDatabaseResponseMemoryLimit('always');
  const { session, facts, source } = await openPostgresqlSource(options.source, { signal, memory });
  const { connection, dbname } = facts;
  if (session === undefined || connection.kind !== 'entered') {
    const reason = connection.kind === 'entered' ? 'the session ended' : connection.message;
    throw new CliError('source_unreachable', `could not connect to the source: ${reason}`, {
      hint: unreachableHint(
        { engine: 'postgresql', source: options.source },
        connection.kind === 'entered' ? undefined : connection.code,
      ),
    });
  }
  const { version, inRecovery, superuser } = connection;
  const context = { inRecovery, superuser };
  const databaseOptions = {
    ...{ source, version, context, serverResults: new Map(), clock, signal, memory },
    onSend: () => {},
  };
  const { results } = await runQueriesOnOpenSession(session, dbname, [databasesQuery], databaseOptions).finally(() =>
    session.end(),
  );
  const names = selectDatabasesToMigrate(
    getPreflightQueryValue(results, databasesQuery) ?? [],
    options.ignoreDbs,
    options.nearest,
  );
  const values: PerDatabaseQueryResult<T>[] = [];
  for (const name of names) values.push(await queryOneDatabase(name, query, databaseOptions));
  return values;
}

async function queryOneDatabase<T>(
  database: string,
  query: PostgresqlPreflightQuery<T>,
  options: PostgresqlDatabaseQueryRunOptions,
): Promise<PerDatabaseQueryResult<T>> {
  const { results, access } = await runPreflightQueriesInDatabase(database, [query], options);
  const value = getPreflightQueryValue(results, query);
  if (value !== undefined) return { database, value };
  const result = results.get(query);
  if (result !== undefined && 'reason' in result) return { database, failure: result.reason };
  return { database, failure: 'message' in access ? access.message : 'the server returned no result' };
}
