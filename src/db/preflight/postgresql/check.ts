import { countOf } from '../../../base/text.ts';
import { buildFinding, type DatabaseCheck, type ServerCheck, withBlocks } from '../check.ts';
import {
  type CheckFinding,
  type CheckOutcome,
  type FindingFix,
  type MigrationMethod,
  skipOutcome,
  unknownOutcome,
} from '../finding.ts';
import type { PreflightOptions } from '../options.ts';
import type { QueryResult, QueryResults } from '../query.ts';
import type { DatabaseScan } from './deep/results.ts';
import type { AnyPostgresqlQuery, PostgresqlCheckQueries } from './query.ts';
import type { PostgresqlFacts } from './source-facts.ts';

/** The objects that a finding lists: at most 20; `unlistedNote` reports how many are omitted. */
export function limitObjects<T>(things: readonly T[]): readonly T[] {
  return things.slice(0, listLimit);
}

/** The note ` 7 more are not listed.` after a list that was cut; empty for a complete list. */
export function unlistedNote(names: readonly unknown[] | number): string {
  const more = (typeof names === 'number' ? names : names.length) - listLimit;
  return more <= 0 ? '' : ` ${countOf(more, 'more is', 'more are')} not listed.`;
}

const listLimit = 20;

/**
 * The result of reading the rows of a database. If the rows were not read, the outcome of a check that needs the rows.
 */
export function scanOrOutcome(
  database: string,
  { scans, access }: PostgresqlFacts,
  { deep }: PreflightOptions,
): { readonly scan: DatabaseScan } | { readonly outcome: CheckOutcome } {
  if (deep === undefined) return { outcome: skipOutcome('needs --deep') };
  if (access.get(database)?.kind !== 'entered')
    return { outcome: skipOutcome('the database was not reached (db-noconnect)') };
  const scan = scans?.get(database);
  return scan === undefined
    ? { outcome: unknownOutcome('the rows were not read before the end of the run') }
    : { scan };
}

/**
 * The outcome of a check that found nothing in the rows that were read, although some tables were not read; undefined
 * if all tables were read.
 */
export function incompleteScanOutcome({ failure, unread }: DatabaseScan): CheckOutcome | undefined {
  if (failure !== undefined) return skipOutcome('the tables could not be listed (unread-tables)');
  if (unread.length === 0) return undefined;
  return skipOutcome(`nothing found, and ${countOf(unread.length, 'table')} not read (unread-tables)`);
}

export type PostgresqlServerCheck<Q extends PostgresqlCheckQueries = PostgresqlCheckQueries> = ServerCheck<
  PostgresqlFacts,
  Q
>;
export type PostgresqlDatabaseCheck<Q extends PostgresqlCheckQueries = PostgresqlCheckQueries> = DatabaseCheck<
  PostgresqlFacts,
  Q
> & {
  /** The check uses `scans`: with `--deep` the check is evaluated again after the rows were read. */
  readonly readsRows?: true;
};

// biome-ignore lint/suspicious/noExplicitAny: the list holds checks with different queries; each was typed where it was written.
export type PostgresqlCheck = PostgresqlServerCheck<any> | PostgresqlDatabaseCheck<any>;

/** The migration methods of PostgreSQL, best first. */
export const postgresqlMethods: readonly MigrationMethod[] = ['continuous', 'dump'];

/** Declares a check of the server; the types of the values in `evaluate` follow from its queries. */
export function declareServerCheck<Q extends PostgresqlCheckQueries>(
  check: Omit<PostgresqlServerCheck<Q>, 'scope' | 'mayBlock'>,
): PostgresqlServerCheck<Q> {
  return { ...withBlocks(check, postgresqlMethods), scope: 'server' };
}

/** Declares a check of each database; the types of the values in `evaluate` follow from its queries. */
export function declareDatabaseCheck<Q extends PostgresqlCheckQueries>(
  check: Omit<PostgresqlDatabaseCheck<Q>, 'scope' | 'mayBlock'>,
): PostgresqlDatabaseCheck<Q> {
  return { ...withBlocks(check, postgresqlMethods), scope: 'database' };
}

/** The finding of a check of the server: `unknown` or `skip` if a query has no value. */
export function evaluateServerCheck(
  check: PostgresqlServerCheck,
  results: QueryResults,
  facts: PostgresqlFacts,
  options: PreflightOptions,
): CheckFinding {
  const { connection } = facts;
  if (check.needs !== 'address' && connection.kind !== 'entered') {
    return buildFinding(check, skipOutcome(`could not connect to the server: ${connection.message}`));
  }
  const read = readValues(check, results, facts.dbname);
  return buildFinding(check, 'outcome' in read ? read.outcome : check.evaluate(read.values, facts, options));
}

/** The finding of a check in one database: `unknown` or `skip` if a query has no value. */
export function evaluateDatabaseCheck(
  check: PostgresqlDatabaseCheck,
  results: QueryResults,
  database: string,
  facts: PostgresqlFacts,
  options: PreflightOptions,
): CheckFinding {
  const queriesDatabase = Object.values(check.queries).some(({ scope }) => scope === 'database');
  const closed = queriesDatabase ? inaccessibleReason(facts, database) : undefined;
  if (closed !== undefined) return buildFinding(check, skipOutcome(closed), database);
  const read = readValues(check, results, database);
  const outcome = 'outcome' in read ? read.outcome : check.evaluate(read.values, database, facts, options);
  return buildFinding(check, outcome, database);
}

/** The findings in one database, from all checks of the scope `database`. */
export function evaluateDatabaseChecks(
  checks: readonly PostgresqlCheck[],
  results: QueryResults,
  database: string,
  facts: PostgresqlFacts,
  options: PreflightOptions,
): readonly CheckFinding[] {
  return checks
    .filter((check): check is PostgresqlDatabaseCheck => check.scope === 'database')
    .map((check) => evaluateDatabaseCheck(check, results, database, facts, options));
}

/**
 * Why no query was sent to the database; undefined if queries were sent. For a connection that was lost later, the
 * query results contain the reason.
 */
function inaccessibleReason({ access }: PostgresqlFacts, database: string): string | undefined {
  const found = access.get(database);
  if (found === undefined) return 'the deadline of the run passed before this database was queried';
  if (found.kind === 'closed') return 'the role cannot connect to the database (db-noconnect)';
  if (found.kind === 'refused') return `could not connect to the database: ${found.message}`;
  return found.kind === 'lost' ? `the database did not respond: ${found.message}` : undefined;
}

// biome-ignore lint/suspicious/noExplicitAny: the values of the queries of any check; its `evaluate` has their types.
type ReadValues = { readonly values: any } | { readonly outcome: CheckOutcome };

/**
 * @param database the database in which the queries ran, because permissions on catalog views are granted per database
 */
function readValues({ queries }: PostgresqlCheck, results: QueryResults, database: string): ReadValues {
  const entries = Object.entries<AnyPostgresqlQuery>(queries).map(([name, query]) => ({
    name,
    query,
    result: visibleResult(query, results.get(query)),
  }));
  const skipped = entries.find(({ result }) => result === undefined || result.kind === 'skipped');
  if (skipped !== undefined) return { outcome: skipOutcome(reasonOf(skipped.result)) };
  const failed = entries.filter(({ result }) => result?.kind !== 'known');
  if (failed.length === 0) {
    return { values: Object.fromEntries(entries.map(({ name, result }) => [name, valueOfResult(result)])) };
  }
  const idsByReason = new Map<string, string[]>();
  for (const { query, result } of failed) {
    const reason = reasonOf(result);
    idsByReason.set(reason, [...(idsByReason.get(reason) ?? []), query.id]);
  }
  const reason = [...idsByReason].map(([why, ids]) => `${ids.join(', ')}: ${why}`).join('; ');
  const grants = failed.flatMap(({ result }) => (result?.kind === 'denied' ? [result.grant] : []));
  if (grants.length === 0) return { outcome: { ...unknownOutcome(reason, queryAgain), settledBy: '--deadline' } };
  const fix = grantFix(grants, database);
  return { outcome: { ...unknownOutcome(reason, fix), settledBy: (fix.sql ?? []).join('; ') } };
}

const queryAgain: FindingFix = {
  text: 'Run the preflight again when the server responds, with a longer --deadline if it is slow.',
};

function visibleResult(
  query: AnyPostgresqlQuery,
  result: QueryResult<unknown> | undefined,
): QueryResult<unknown> | undefined {
  const isHidden = result?.kind === 'denied' || result?.kind === 'missing';
  return isHidden && query.mayBeHidden === true ? { kind: 'known', value: query.absent } : result;
}

function valueOfResult(result: QueryResult<unknown> | undefined): unknown {
  return result?.kind === 'known' ? result.value : undefined;
}

function reasonOf(result: QueryResult<unknown> | undefined): string {
  return result === undefined || result.kind === 'known' ? 'the query was not sent' : result.reason;
}

function grantFix(grants: readonly string[], database: string): FindingFix {
  const sql = [...new Set(grants.flatMap((grant) => grant.split(/; (?=GRANT )/)))];
  return {
    sql,
    undo: sql.map((grant) => grant.replace(/^GRANT /, 'REVOKE ').replace(/ TO ("(?:[^"]|"")*"|\S+)$/, ' FROM $1')),
    database,
    notSimulated: 'what the role can read after the GRANT is not known',
    text: 'Grant the role of the migration the permission that is missing, then run the preflight again.',
  };
}
