import { CliError, usageError } from '../../../base/errors.ts';
import { nearestWord } from '../../../cli/values.ts';
import type { Clock } from '../../../platform/host.ts';
import { createLimit } from '../../../platform/memory.ts';
import { timeoutSignal } from '../../../platform/waiting.ts';
import { firstNormalOid } from '../../../postgresql/catalog-oids.ts';
import type { PostgresqlEndpoint } from '../../../postgresql/endpoint.ts';
import { type DbSource, unreachableHint } from '../../source/index.ts';
import type { SchemaFingerprints } from '../baseline.ts';
import { doubleQuote, type PreflightOptions, type WordFinder, wordHint } from '../options.ts';
import { queryValue } from '../query.ts';
import type { PreflightReport } from '../report.ts';
import { databasesQuery, type PostgresqlDatabase } from './queries/cluster.ts';
import { column, columns, type PostgresqlQuery, rowsQuery } from './query.ts';
import { type DatabaseQueryOptions, querySession, runInDatabase } from './run-queries.ts';
import { openPostgresqlSource } from './source.ts';

/**
 * The databases to migrate: all except those in `--ignore-dbs`.
 * @throws CliError `usage` when an ignored name does not exist, since a typing error would migrate the wrong database,
 * or when no database is left
 */
export function databasesToMigrate(
  databases: readonly PostgresqlDatabase[],
  ignored: readonly string[],
  nearest: WordFinder,
): readonly string[] {
  const names = databases.map(({ name }) => name);
  const unknown = ignored.filter((name) => !names.includes(name) && !alwaysIgnored.has(name));
  if (unknown.length > 0) throw unknownDatabases(unknown, names, nearest);
  const left = names.filter((name) => !ignored.includes(name));
  if (left.length === 0)
    throw usageError(
      '--ignore-dbs names every database of the source',
      'leave at least one database out of `--ignore-dbs`',
    );
  return left;
}

/** Databases that are never migrated; naming them in `--ignore-dbs` is no error. */
const alwaysIgnored = new Set(['template0', 'template1']);

function unknownDatabases(unknown: readonly string[], names: readonly string[], nearest: WordFinder): Error {
  const listed = names.slice(0, 20).join(', ') + (names.length > 20 ? ` and ${names.length - 20} more` : '');
  return usageError(
    `unknown ${unknown.length === 1 ? 'database' : 'databases'} in --ignore-dbs: ${unknown.map(doubleQuote).join(', ')}`,
    wordHint(unknown, names, nearest) ??
      'give the names exactly as the server has them, including upper and lower case',
    `databases of the source: ${listed}`,
  );
}

/**
 * The databases that a comparison reads: the databases to migrate, without templates. `ignored` may contain names of
 * templates too.
 */
export function databasesToCompare(
  databases: readonly PostgresqlDatabase[],
  ignored: readonly string[],
  nearest: WordFinder,
): readonly string[] {
  return databasesToMigrate(
    databases.filter(({ template }) => !template),
    ignored.filter((name) => !databases.some((one) => one.name === name && one.template)),
    nearest,
  );
}

export interface EachDatabaseOptions {
  readonly source: PostgresqlEndpoint;
  readonly ignoreDbs: readonly string[];
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly nearest: WordFinder;
}

type DatabaseResult<T> =
  | { readonly database: string; readonly value: T }
  /** Why the query has no value. */
  | { readonly database: string; readonly failure: string };

/** Runs one query in every database to be migrated, one after the other. */
export async function queryEachDatabase<T>(
  options: EachDatabaseOptions,
  query: PostgresqlQuery<T>,
): Promise<readonly DatabaseResult<T>[]> {
  const { signal, clock } = options;
  const memory = createLimit('always');
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
  const { results } = await querySession(session, dbname, [databasesQuery], databaseOptions).finally(() =>
    session.end(),
  );
  const names = databasesToMigrate(queryValue(results, databasesQuery) ?? [], options.ignoreDbs, options.nearest);
  const values: DatabaseResult<T>[] = [];
  for (const name of names) values.push(await queryOneDatabase(name, query, databaseOptions));
  return values;
}

async function queryOneDatabase<T>(
  database: string,
  query: PostgresqlQuery<T>,
  options: DatabaseQueryOptions,
): Promise<DatabaseResult<T>> {
  const { results, access } = await runInDatabase(database, [query], options);
  const value = queryValue(results, query);
  if (value !== undefined) return { database, value };
  const result = results.get(query);
  if (result !== undefined && 'reason' in result) return { database, failure: result.reason };
  return { database, failure: 'message' in access ? access.message : 'the server returned no result' };
}

/**
 * Fingerprints of all tables of each schema, which change when a table is created, altered or dropped. Only baselines and
 * `db watch` use this query, because it reads every attribute of every table. The fingerprint is a
 * sum of hashes, which needs no sorting.
 */
export const fingerprintsQuery = rowsQuery({
  id: 'schema-fingerprints',
  scope: 'database',
  sql: (version) => {
    const columnText =
      "concat_ws(':', c.relname, c.relkind, c.relreplident, a.attnum, a.attname, a.atttypid, a.atttypmod, a.attnotnull)";
    const hash = version < 110_000 ? `hashtext(${columnText})` : `hashtextextended(${columnText}, 0)`;
    return `
      SELECT
        n.nspname,
        count(DISTINCT c.oid) AS tables,
        count(*) AS columns,
        sum(${hash}::numeric) AS hash
      FROM pg_attribute a
      JOIN pg_class c ON c.oid = a.attrelid
      JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE c.relkind IN ('r', 'p')
        AND c.relpersistence <> 't'
        AND c.oid >= ${firstNormalOid}
        AND a.attnum > 0
        AND NOT a.attisdropped
      GROUP BY n.nspname
      ORDER BY n.nspname
    `;
  },
  row: columns({
    schema: column.text('nspname'),
    tables: column.number('tables'),
    columns: column.number('columns'),
    hash: column.text('hash'),
  }),
});

/**
 * Reads fingerprints of every schema. Only `--baseline` needs them, because the query reads every column. Returns
 * undefined if the source could not be reached.
 */
export async function readFingerprints(
  clock: Clock,
  source: DbSource,
  options: PreflightOptions,
  report: PreflightReport,
): Promise<SchemaFingerprints | undefined> {
  if (source.engine === 'redis' || report.source.server_version === undefined) return undefined;
  const queryOptions = { source: source.source, ignoreDbs: options.ignoreDbs, clock, nearest: nearestWord };
  const results = await queryEachDatabase({ ...queryOptions, signal: timeoutSignal(60_000) }, fingerprintsQuery);
  const entries = results.flatMap((each) => {
    if ('failure' in each) return [];
    return each.value.map(({ schema, tables, columns, hash }) => [
      `${each.database}.${schema}`,
      `${tables} tables, ${columns} columns, hash ${hash}`,
    ]);
  });
  return Object.fromEntries(entries);
}
