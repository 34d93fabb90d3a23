import { expect, test } from 'vitest';
import { decide } from '../../src/loopback/decide.ts';
import type { LoopbackRequest } from '../../src/loopback/request.ts';
import type { Expected, Phase } from '../../src/loopback/rule.ts';
import type { Judgement } from '../../src/oauth/authorization-response.ts';
import { armed, expected } from './ground.ts';

export type Row = readonly [name: string, request: LoopbackRequest, answer: string];

/** A decision as one word: the page of a refusal, or the kind; of what was taken, the kind of judgement. */
export function word(input: LoopbackRequest, phase: Phase = armed, ground: Expected<Judgement> = expected()): string {
  const decision = decide(ground, phase, input);
  if (decision.kind === 'taken') return `taken ${decision.accepted.kind}`;
  return decision.kind === 'refuse' ? decision.page : decision.kind;
}

/** A test for each row. */
export function table(rows: readonly Row[], phase: Phase = armed, ground: Expected<Judgement> = expected()): void {
  test.each(rows)('%s', (_, input, answer) => {
    expect(word(input, phase, ground)).toBe(answer);
  });
}
