import { CliError } from '../../errors.ts';
import type { Clock } from '../../platform/host.ts';
import type { PostgresqlSource } from '../../postgresql/source.ts';
import { openPostgresqlSource } from './open-source.ts';
import { databasesQuery } from './queries/databases.ts';
import type { PostgresqlQuery } from './query.ts';
import { type QueryDatabaseOptions, queryDatabase, queryOpenSession } from './query-database.ts';
import { knownValue } from './run-queries.ts';
import { selectDatabases } from './select-databases.ts';

export interface QueryEachDatabaseOptions {
  readonly source: PostgresqlSource;
  readonly ignoreDbs: readonly string[];
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly nearest: (word: string, known: readonly string[]) => string | undefined;
  readonly onSent?: (database: string, text: string) => void;
}

export type DatabaseQueryValue<T> =
  | { readonly database: string; readonly value: T }
  /** Why it could not be asked. */
  | { readonly database: string; readonly failure: string };

/** Asks one question of every database to be migrated, one after the other. Throws `source_unreachable` when the source cannot be entered. */
export async function queryEachDatabase<T>(
  options: QueryEachDatabaseOptions,
  ask: PostgresqlQuery<T>,
): Promise<readonly DatabaseQueryValue<T>[]> {
  const { signal, clock, onSent = () => {} } = options;
  const wayIn = await openPostgresqlSource(options.source, { signal, onSent });
  const { connection: entry, dbname } = wayIn.facts;
  if (wayIn.session === undefined || entry.kind !== 'entered') {
    const reason = entry.kind === 'entered' ? 'there is no session' : entry.message;
    throw new CliError('source_unreachable', `could not enter the source: ${reason}`, {
      hint: 'the same options with `cloudctl db preflight` tell what to do',
    });
  }
  const context = { inRecovery: entry.inRecovery, superuser: entry.superuser };
  const way: QueryDatabaseOptions = {
    source: wayIn.source,
    version: entry.version,
    context,
    serverResults: new Map(),
    clock,
    signal,
    onSent,
  };
  const { session } = wayIn;
  const known = await queryOpenSession(session, dbname, [databasesQuery], way).finally(() => session.end());
  const names = selectDatabases(knownValue(known.results, databasesQuery) ?? [], options.ignoreDbs, options.nearest);
  const told: DatabaseQueryValue<T>[] = [];
  for (const name of names) told.push(await queryOneDatabase(name, ask, way));
  return told;
}

async function queryOneDatabase<T>(
  database: string,
  ask: PostgresqlQuery<T>,
  way: QueryDatabaseOptions,
): Promise<DatabaseQueryValue<T>> {
  const { results: answers, access: reach } = await queryDatabase(database, [ask], way);
  const answer = answers.get(ask);
  const value = knownValue(answers, ask);
  if (value !== undefined) return { database, value };
  if (answer !== undefined && 'reason' in answer) return { database, failure: answer.reason };
  return { database, failure: 'message' in reach ? reach.message : 'no answer' };
}
