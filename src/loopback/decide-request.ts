import { type LoopbackRequest, rawPath } from './loopback-request.ts';
import { refuseRequest } from './refusal.ts';
import type { LoginExpectations, LoginPhase, RequestCheck, RequestDecision } from './request-decision.ts';
import { checkHost, checkLoopbackPeer, checkMethod, checkPeerUser } from './rules/connection.ts';
import { decideCallback } from './rules/decide-callback.ts';
import { decideRelay } from './rules/decide-relay.ts';
import { checkCallbackOrigin, checkRelaySender, checkTopLevelNavigation } from './rules/origin.ts';
import {
  checkBodySize,
  checkKnownPath,
  checkNoExpectHeader,
  checkNoRepeatedParameter,
  checkOriginForm,
} from './rules/target.ts';

/**
 * Decides what the loopback server does with one request: a pure function of the expected values, the phase of the login and
 * the request. The checks of a request run in a fixed order, and the first refusal is final; the state parameter is compared
 * only after all other checks.
 */
export function decideRequest<Accepted>(
  expected: LoginExpectations<Accepted>,
  phase: LoginPhase,
  request: LoopbackRequest,
): RequestDecision<Accepted> {
  for (const check of checks) {
    const refusal = check(expected, request);
    if (refusal !== undefined) {
      return refusal;
    }
  }
  switch (rawPath(request)) {
    case expected.paths.callback:
      return decideCallback(expected, phase, request);
    case expected.paths.relay:
      return decideRelay(expected, phase, request);
    case expected.paths.start:
      if (phase.kind !== 'armed') return refuseRequest('already_started');
      return { kind: phase.started ? 'start_again' : 'start' };
    default:
      return phase.kind === 'taken' ? { kind: 'done' } : refuseRequest('not_found');
  }
}

const checks: readonly RequestCheck[] = [
  checkLoopbackPeer,
  checkPeerUser,
  checkMethod,
  checkHost,
  checkOriginForm,
  checkKnownPath,
  checkBodySize,
  checkNoExpectHeader,
  checkNoRepeatedParameter,
  checkTopLevelNavigation,
  checkCallbackOrigin,
  checkRelaySender,
];
