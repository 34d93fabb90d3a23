import { buildPreflightFinding } from '../check.ts';
import { type CheckFinding, type PreflightCheckOutcome, skipOutcome } from '../finding.ts';
import type { PreflightOptions } from '../preflight-options.ts';
import type { PreflightCheckQueries, PreflightQueryResult, PreflightQueryResults } from '../query.ts';
import type { RedisCheck } from './check.ts';
import { buildRedisOutcomeWithoutQueryResult } from './outcome-without-result.ts';
import type { RedisSourceFacts } from './source-facts.ts';

/** Returns one finding for each Redis check, in the order of the checks. */
export function evaluateRedisChecks(
  checks: readonly RedisCheck[],
  results: PreflightQueryResults,
  facts: RedisSourceFacts,
  options: PreflightOptions,
): readonly CheckFinding[] {
  return checks.map((check) => buildPreflightFinding(check, evaluateCheck(check, results, facts, options)));
}

function evaluateCheck(
  check: RedisCheck,
  results: PreflightQueryResults,
  facts: RedisSourceFacts,
  options: PreflightOptions,
): PreflightCheckOutcome {
  if (check.needs === 'connection' && facts.connection.kind === 'refused')
    return skipOutcome(describeRefusedRedisConnection(facts));
  const values: Record<string, unknown> = {};
  const queries: PreflightCheckQueries = check.queries;
  for (const [name, query] of Object.entries(queries)) {
    const isOptional = 'optional' in query;
    const result = results.get(isOptional ? query.optional : query) ?? notSent(facts);
    if (!isOptional && result.kind !== 'known') return buildRedisOutcomeWithoutQueryResult(result, check);
    values[name] = isOptional || result.kind !== 'known' ? result : result.value;
  }
  return check.evaluate(values, facts, options);
}

function notSent(facts: RedisSourceFacts): PreflightQueryResult<never> {
  const isRefused = facts.connection.kind === 'refused';
  return { kind: 'skipped', reason: isRefused ? describeRefusedRedisConnection(facts) : 'the query was not sent' };
}

/** Why the checks that need a session are skipped. */
function describeRefusedRedisConnection({ connection }: RedisSourceFacts): string {
  return connection.kind === 'refused' ? `no session with the server: ${connection.message}` : '';
}
