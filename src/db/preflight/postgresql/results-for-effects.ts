import type { CheckFinding } from '../finding.ts';
import type { PreflightQueryResults } from '../query.ts';
import { applyFixEffectsToPostgresqlResults } from './apply-fix-effects.ts';
import type { PostgresqlCheck } from './check.ts';
import { unreadableLargeObjectsQuery } from './queries/large-objects.ts';
import { relationsWithUnusualPropertiesQuery } from './queries/relations.ts';
import { unreadableObjectsQuery } from './queries/unreadable-objects.ts';
import type { AnyPostgresqlPreflightQuery } from './query.ts';

/**
 * Selects the query results of one database that are needed to simulate fixes: the results of checks that a fix of this
 * database affects, and of checks with a finding that depends on the server or the role. The other results are
 * discarded: a check that passes in a database is not made worse by a fix for the whole server.
 */
export function selectResultsForFixEffects(
  checks: readonly PostgresqlCheck[],
  findings: readonly CheckFinding[],
  results: PreflightQueryResults,
): PreflightQueryResults {
  const after = applyFixEffectsToPostgresqlResults(
    results,
    findings.flatMap(({ fix }) => fix?.effects ?? []),
  );
  const problems = new Set(findings.filter(({ status }) => status !== 'pass' && status !== 'skip').map(({ id }) => id));
  const wanted = checks.filter(
    (check) =>
      check.scope === 'database' &&
      (areCheckQueryResultsChangedByFixes(check, results, after) ||
        (problems.has(check.id) && getQueriesOfCheck(check).some(dependsOnServer))),
  );
  const queries = new Set(wanted.flatMap(getQueriesOfCheck).filter(({ scope }) => scope === 'database'));
  return new Map([...results].filter(([query]) => queries.has(query as AnyPostgresqlPreflightQuery)));
}

/** Selects the results of the queries that the given checks use. */
export function queryResultsOfChecks(
  checks: readonly PostgresqlCheck[],
  results: PreflightQueryResults,
): PreflightQueryResults {
  const queries = new Set(checks.flatMap(getQueriesOfCheck));
  return new Map([...results].filter(([query]) => queries.has(query as AnyPostgresqlPreflightQuery)));
}

function dependsOnServer(query: AnyPostgresqlPreflightQuery): boolean {
  return query.scope === 'server' || roleDependent.includes(query);
}

const roleDependent: readonly AnyPostgresqlPreflightQuery[] = [
  relationsWithUnusualPropertiesQuery,
  unreadableObjectsQuery,
  unreadableLargeObjectsQuery,
];

export function getQueriesOfCheck({ queries }: PostgresqlCheck): readonly AnyPostgresqlPreflightQuery[] {
  return Object.values<AnyPostgresqlPreflightQuery>(queries);
}

/** Whether the fixes change the result of a query of the check. */
export function areCheckQueryResultsChangedByFixes(
  check: PostgresqlCheck,
  before: PreflightQueryResults,
  after: PreflightQueryResults,
): boolean {
  return before !== after && getQueriesOfCheck(check).some((query) => before.get(query) !== after.get(query));
}
