import { expect, test } from 'vitest';
import { decideLoopbackRequest } from '../../../src/auth/loopback/decide-loopback-request.ts';
import type { LoopbackHttpRequest } from '../../../src/auth/loopback/loopback-http-request.ts';
import type { LoopbackLoginPhase, LoopbackRequestExpectations } from '../../../src/auth/loopback/request-decision.ts';
import type { AuthorizationResult } from '../../../src/auth/oauth/authorization-response.ts';
import { armed, expected } from './loopback-fixture.ts';

export type Row = readonly [name: string, request: LoopbackHttpRequest, answer: string];

/** A decision as one word: the page of a refusal, or the kind; of what was taken, the kind of judgement. */
export function word(
  input: LoopbackHttpRequest,
  phase: LoopbackLoginPhase = armed,
  setup: LoopbackRequestExpectations<AuthorizationResult> = expected(),
): string {
  const decision = decideLoopbackRequest(setup, phase, input);
  if (decision.kind === 'taken') return `taken ${decision.accepted.kind}`;
  return decision.kind === 'refuse' ? decision.reason : decision.kind;
}

/** A test for each row. */
export function table(
  rows: readonly Row[],
  phase: LoopbackLoginPhase = armed,
  setup: LoopbackRequestExpectations<AuthorizationResult> = expected(),
): void {
  test.each(rows)('%s', (_, input, answer) => {
    expect(word(input, phase, setup)).toBe(answer);
  });
}
