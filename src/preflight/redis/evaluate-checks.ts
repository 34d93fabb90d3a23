import { countOf } from '../../base/text.ts';
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
  const evaluated = checks.map((check) => ({ check, outcome: evaluateCheck(check, results, facts, options) }));
  return joinDeniedChecks(evaluated).map(({ check, outcome }) => buildPreflightFinding(check, outcome));
}

interface EvaluatedCheck {
  readonly check: RedisCheck;
  readonly outcome: PreflightCheckOutcome;
}

/**
 * A missing permission is one finding, whatever the number of checks that need it: of the checks that could block most
 * methods. The others are skipped, and name it.
 */
function joinDeniedChecks(evaluated: readonly EvaluatedCheck[]): readonly EvaluatedCheck[] {
  const grantOf = ({ outcome: { status, settledBy, fix } }: EvaluatedCheck) =>
    status === 'unknown' && fix?.sql?.length === 1 && fix.sql[0] === settledBy ? settledBy : undefined;
  const holders = new Map<string, EvaluatedCheck>();
  for (const one of evaluated) {
    const grant = grantOf(one);
    const held = grant === undefined ? undefined : holders.get(grant);
    const isWider = held === undefined || one.check.mayBlock.length > held.check.mayBlock.length;
    if (grant !== undefined && isWider) holders.set(grant, one);
  }
  return evaluated.map((one) => {
    const grant = grantOf(one);
    const holder = grant === undefined ? undefined : holders.get(grant);
    if (grant === undefined || holder === undefined) return one;
    const others = evaluated.filter(
      (other) =>
        other !== holder &&
        grantOf(other) === grant &&
        // The verdict stays open for every method that one of the checks can block.
        other.check.mayBlock.every((method) => holder.check.mayBlock.includes(method)),
    );
    if (others.length === 0) return one;
    if (others.includes(one))
      return { ...one, outcome: skipOutcome(`${one.outcome.observed} (see ${holder.check.id})`) };
    if (one !== holder) return one;
    const outcome: PreflightCheckOutcome = {
      ...one.outcome,
      premise: `${one.check.title}, and ${countOf(others.length, 'other check passes', 'other checks pass')}`,
      objects: others.map(({ check }) => check.id),
    };
    return { ...one, outcome };
  });
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
