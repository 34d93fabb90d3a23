import { findingOf } from '../check.ts';
import { type CheckOutcome, type Finding, skip } from '../finding.ts';
import type { PreflightOptions } from '../preflight-options.ts';
import type { Queries, QueryResult, QueryResults } from '../query.ts';
import type { RedisCheck } from './check.ts';
import { outcomeWithoutResult } from './outcome-without-result.ts';
import type { RedisSourceFacts } from './source-facts.ts';

/** Returns one finding for each Redis check, in the order of the checks. */
export function evaluateRedisChecks(
  checks: readonly RedisCheck[],
  results: QueryResults,
  facts: RedisSourceFacts,
  options: PreflightOptions,
): readonly Finding[] {
  return checks.map((check) => findingOf(check, evaluateCheck(check, results, facts, options)));
}

function evaluateCheck(
  check: RedisCheck,
  results: QueryResults,
  facts: RedisSourceFacts,
  options: PreflightOptions,
): CheckOutcome {
  if (check.needs === 'connection' && facts.connection.kind === 'refused') return skip(notConnectedReason(facts));
  const values: Record<string, unknown> = {};
  const queries: Queries = check.queries;
  for (const [name, query] of Object.entries(queries)) {
    const isOptional = 'optional' in query;
    const result = results.get(isOptional ? query.optional : query) ?? notSent(facts);
    if (!isOptional && result.kind !== 'known') return outcomeWithoutResult(result, check);
    values[name] = isOptional || result.kind !== 'known' ? result : result.value;
  }
  return check.evaluate(values, facts, options);
}

function notSent(facts: RedisSourceFacts): QueryResult<never> {
  const isRefused = facts.connection.kind === 'refused';
  return { kind: 'skipped', reason: isRefused ? notConnectedReason(facts) : 'the query was not sent' };
}

/** Why the checks that need a session are skipped. */
export function notConnectedReason({ connection }: RedisSourceFacts): string {
  return connection.kind === 'refused' ? `no session with the server: ${connection.message}` : '';
}
