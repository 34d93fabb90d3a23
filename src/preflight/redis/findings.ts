import { type CheckOutcome, type Finding, skip, unknown } from '../finding.ts';
import type { PreflightOptions } from '../preflight-options.ts';
import { type AnyRedisCheck, redisMethods } from './check.ts';
import type { RedisQueries, RedisQueryResult } from './query.ts';
import type { RedisQueryResults } from './run-queries.ts';
import type { RedisSourceFacts } from './source-facts.ts';

/** One finding a check, in the order of the catalogue. */
export function evaluateRedisChecks(
  checks: readonly AnyRedisCheck[],
  answers: RedisQueryResults,
  ground: RedisSourceFacts,
  wish: PreflightOptions,
): readonly Finding[] {
  return checks.map((check) => ({
    id: check.id,
    title: check.title,
    scope: 'server',
    ...(check.spec === undefined ? {} : { spec: check.spec }),
    ...evaluateCheck(check, answers, ground, wish),
  }));
}

function evaluateCheck(
  check: AnyRedisCheck,
  answers: RedisQueryResults,
  ground: RedisSourceFacts,
  wish: PreflightOptions,
): CheckOutcome {
  if (check.needs === 'entry' && ground.connection.kind === 'refused') {
    return skip(`the server was not entered: ${ground.connection.message}`);
  }
  const values: Record<string, unknown> = {};
  const asks: RedisQueries = check.queries;
  for (const [name, ask] of Object.entries(asks)) {
    const isOptional = 'maybe' in ask;
    const answer = answers.get(isOptional ? ask.maybe : ask) ?? notAsked(ground);
    if (!isOptional && answer.kind !== 'known') return unansweredOutcome(answer, check);
    values[name] = isOptional || answer.kind !== 'known' ? answer : answer.value;
  }
  return check.evaluate(values, ground, wish);
}

function notAsked({ connection: entry }: RedisSourceFacts): RedisQueryResult<never> {
  const reason = entry.kind === 'refused' ? `the server was not entered: ${entry.message}` : 'it was not asked';
  return { kind: 'skipped', reason };
}

/** The outcome of a check whose question has no answer: `unknown` with what would answer it. */
export function unansweredOutcome(
  answer: Exclude<RedisQueryResult<unknown>, { kind: 'known' }>,
  { mayBlock }: { readonly mayBlock: AnyRedisCheck['mayBlock'] } = { mayBlock: redisMethods },
): CheckOutcome {
  switch (answer.kind) {
    case 'skipped':
      return skip(answer.reason);
    case 'failed':
      return unknown(answer.reason, {
        text: isBusyError(answer.reason)
          ? 'A script holds the server up: see busy-script, and run it again when it has ended.'
          : 'Run it again when the server answers.',
      });
    case 'denied':
      return unknown(answer.reason, {
        sql: [answer.grant],
        ...(answer.revoke === undefined ? {} : { undo: [answer.revoke] }),
        by: 'an administrator of the source',
        text: 'Let the user ask, and run it again.',
      });
    case 'missing':
      return unknown(answer.reason, {
        text: mayBlock.includes('continuous')
          ? 'The server hides the command or is too old for it. Ask who runs it; --probe shows whether PSYNC itself works.'
          : 'The server hides the command or is too old for it. Ask who runs it.',
      });
    default:
      return answer satisfies never;
  }
}

/** What the server says while a script runs longer than it should; nothing else is answered. */
export function isBusyError(reason: string): boolean {
  return /(^|: )BUSY /.test(reason);
}
