import { refuse } from './refusal.ts';
import { type LoopbackRequest, rawPath } from './request.ts';
import type { Check, Decision, Expected, Phase } from './rule.ts';
import { allowedMethod, exactHost, loopbackPeer } from './rules/connection.ts';
import { callbackOrigin, relayOrigin, topLevelNavigation } from './rules/origin.ts';
import { relayResponse } from './rules/relay.ts';
import { callbackResponse } from './rules/response.ts';
import { boundedBody, knownPath, noExpectation, noRepeatedParameter, originForm } from './rules/target.ts';

/**
 * What the helper does with one request: a pure function of what the login expects, how far it is and what came.
 * The checks run in their order and the first refusal stands; only behind all of them is state looked at.
 */
export function decide<Accepted>(
  expected: Expected<Accepted>,
  phase: Phase,
  request: LoopbackRequest,
): Decision<Accepted> {
  for (const check of checks) {
    const refusal = check(expected, request);
    if (refusal !== undefined) {
      return refusal;
    }
  }
  switch (rawPath(request)) {
    case expected.paths.callback:
      return callbackResponse(expected, phase, request);
    case expected.paths.relay:
      return relayResponse(expected, phase, request);
    case expected.paths.start:
      return phase.kind === 'armed' && !phase.started ? { kind: 'start' } : refuse('already_started');
    default:
      return phase.kind === 'taken' ? { kind: 'done' } : refuse('not_found');
  }
}

const checks: readonly Check[] = [
  loopbackPeer,
  allowedMethod,
  exactHost,
  originForm,
  knownPath,
  boundedBody,
  noExpectation,
  noRepeatedParameter,
  topLevelNavigation,
  callbackOrigin,
  relayOrigin,
];
