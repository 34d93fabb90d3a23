import { type LoopbackHttpRequest, readRawRequestPath } from './loopback-http-request.ts';
import { buildLoopbackRefusal } from './refusal.ts';
import type {
  LoopbackLoginPhase,
  LoopbackRequestCheck,
  LoopbackRequestDecision,
  LoopbackRequestExpectations,
} from './request-decision.ts';
import { checkHostHeader, checkLoopbackHttpMethod, checkPeerAddress, checkPeerUser } from './rules/connection.ts';
import { decideCallbackRequest } from './rules/decide-callback.ts';
import { decideFragmentRelayRequest } from './rules/decide-fragment-relay-request.ts';
import { checkCallbackOriginHeader, checkRelaySender, checkTopLevelNavigation } from './rules/origin.ts';
import {
  checkLoopbackBodySize,
  checkLoopbackPath,
  checkLoopbackRequestHasNoExpectHeader,
  checkLoopbackTargetHasNoRepeatedParameter,
  checkOriginFormTarget,
} from './rules/target.ts';

/**
 * Decides what the loopback server does with one request: a pure function of the expected values, the phase of the login and
 * the request. The checks of a request run in a fixed order, and the first refusal is final; the state parameter is compared
 * only after all other checks.
 */
export function decideLoopbackRequest<Accepted>(
  expected: LoopbackRequestExpectations<Accepted>,
  phase: LoopbackLoginPhase,
  request: LoopbackHttpRequest,
): LoopbackRequestDecision<Accepted> {
  for (const check of checks) {
    const refusal = check(expected, request);
    if (refusal !== undefined) {
      return refusal;
    }
  }
  switch (readRawRequestPath(request)) {
    case expected.paths.callback:
      return decideCallbackRequest(expected, phase, request);
    case expected.paths.relay:
      return decideFragmentRelayRequest(expected, phase, request);
    case expected.paths.start:
      if (phase.kind !== 'armed') return buildLoopbackRefusal('already_started');
      return { kind: phase.started ? 'start_again' : 'start' };
    default:
      return phase.kind === 'taken' ? { kind: 'done' } : buildLoopbackRefusal('not_found');
  }
}

const checks: readonly LoopbackRequestCheck[] = [
  checkPeerAddress,
  checkPeerUser,
  checkLoopbackHttpMethod,
  checkHostHeader,
  checkOriginFormTarget,
  checkLoopbackPath,
  checkLoopbackBodySize,
  checkLoopbackRequestHasNoExpectHeader,
  checkLoopbackTargetHasNoRepeatedParameter,
  checkTopLevelNavigation,
  checkCallbackOriginHeader,
  checkRelaySender,
];
