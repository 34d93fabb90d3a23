import { type Finding, type Outcome, skip, unknown } from '../finding.ts';
import type { Wish } from '../wish.ts';
import type { Answer, Asks } from './ask.ts';
import { type AnyCheck, every } from './check.ts';
import type { Answers } from './gather.ts';
import type { Ground } from './ground.ts';

/** One finding a check, in the order of the catalogue. */
export function judgeAll(
  checks: readonly AnyCheck[],
  answers: Answers,
  ground: Ground,
  wish: Wish,
): readonly Finding[] {
  return checks.map((check) => ({
    id: check.id,
    title: check.title,
    scope: 'server',
    ...(check.spec === undefined ? {} : { spec: check.spec }),
    ...judgeOne(check, answers, ground, wish),
  }));
}

function judgeOne(check: AnyCheck, answers: Answers, ground: Ground, wish: Wish): Outcome {
  if (check.needs === 'entry' && ground.entry.kind === 'refused') {
    return skip(`the server was not entered: ${ground.entry.message}`);
  }
  const values: Record<string, unknown> = {};
  const asks: Asks = check.asks;
  for (const [name, ask] of Object.entries(asks)) {
    const isOptional = 'maybe' in ask;
    const answer = answers.get(isOptional ? ask.maybe : ask) ?? notAsked(ground);
    if (!isOptional && answer.kind !== 'known') return unanswered(answer, check);
    values[name] = isOptional || answer.kind !== 'known' ? answer : answer.value;
  }
  return check.judge(values, ground, wish);
}

function notAsked({ entry }: Ground): Answer<never> {
  const reason = entry.kind === 'refused' ? `the server was not entered: ${entry.message}` : 'it was not asked';
  return { kind: 'skipped', reason };
}

/** The outcome of a check whose question has no answer: `unknown` with what would answer it. */
export function unanswered(
  answer: Exclude<Answer<unknown>, { kind: 'known' }>,
  { mayBlock }: { readonly mayBlock: AnyCheck['mayBlock'] } = { mayBlock: every },
): Outcome {
  switch (answer.kind) {
    case 'skipped':
      return skip(answer.reason);
    case 'failed':
      return unknown(answer.reason, {
        text: isBusy(answer.reason)
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
export function isBusy(reason: string): boolean {
  return /(^|: )BUSY /.test(reason);
}
