import type { Finding } from '../finding.ts';
import type { QueryResults } from '../query.ts';
import { applyEffects } from './apply-effects.ts';
import type { PostgresqlCheck } from './check.ts';
import { unreadableLargeObjectsQuery } from './queries/large-objects.ts';
import { relationsQuery } from './queries/relations.ts';
import { unreadableObjectsQuery } from './queries/unreadable-objects.ts';
import type { AnyPostgresqlQuery } from './query.ts';

/**
 * The query results of one database that are needed to simulate fixes: those of checks that fixes of this database
 * affect, and of checks with a finding that depends on the server or the role. All other results are discarded, because
 * no fix of the server makes a check worse that passes in a database.
 */
export function resultsForEffects(
  checks: readonly PostgresqlCheck[],
  findings: readonly Finding[],
  results: QueryResults,
): QueryResults {
  const after = applyEffects(
    results,
    findings.flatMap(({ fix }) => fix?.effects ?? []),
  );
  const problems = new Set(findings.filter(({ status }) => status !== 'pass' && status !== 'skip').map(({ id }) => id));
  const wanted = checks.filter(
    (check) =>
      check.scope === 'database' &&
      (changesCheckResults(check, results, after) ||
        (problems.has(check.id) && queriesOfCheck(check).some(dependsOnServer))),
  );
  const queries = new Set(wanted.flatMap(queriesOfCheck).filter(({ scope }) => scope === 'database'));
  return new Map([...results].filter(([query]) => queries.has(query as AnyPostgresqlQuery)));
}

/** The results of all queries of these checks. */
export function resultsOfChecks(checks: readonly PostgresqlCheck[], results: QueryResults): QueryResults {
  const queries = new Set(checks.flatMap(queriesOfCheck));
  return new Map([...results].filter(([query]) => queries.has(query as AnyPostgresqlQuery)));
}

function dependsOnServer(query: AnyPostgresqlQuery): boolean {
  return query.scope === 'server' || roleDependent.includes(query);
}

const roleDependent: readonly AnyPostgresqlQuery[] = [
  relationsQuery,
  unreadableObjectsQuery,
  unreadableLargeObjectsQuery,
];

export function queriesOfCheck({ queries }: PostgresqlCheck): readonly AnyPostgresqlQuery[] {
  return Object.values<AnyPostgresqlQuery>(queries);
}

/** Whether the fixes change the result of a query of the check. */
export function changesCheckResults(check: PostgresqlCheck, before: QueryResults, after: QueryResults): boolean {
  return before !== after && queriesOfCheck(check).some((query) => before.get(query) !== after.get(query));
}
