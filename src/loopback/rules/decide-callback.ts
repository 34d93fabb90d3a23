import { type CallbackParameters, type ParameterLocation, parseCallbackParameters } from '../callback-parameters.ts';
import { hasHeaderWithPrefix, headerValues, type LoopbackRequest, rawQuery } from '../loopback-request.ts';
import { refuseRequest } from '../refusal.ts';
import type { LoginExpectations, LoginPhase, RequestDecision } from '../request-decision.ts';

/**
 * The redirect itself: a response is judged, state before error before code, and the first one of any kind ends the
 * login. Everything else is noise. With the implicit flow the bare callback serves the bridge.
 */
export function decideCallback<Accepted>(
  expected: LoginExpectations<Accepted>,
  phase: LoginPhase,
  request: LoopbackRequest,
): RequestDecision<Accepted> {
  const query = rawQuery(request);
  if (expected.flow === 'implicit' && isBare(query, expected.callbackQuery)) {
    return phase.kind === 'armed' ? { kind: 'bridge' } : refuseRequest('already_finished');
  }
  if (!isNavigation(request)) {
    return refuseRequest('not_a_response');
  }
  return acceptResponse(expected, phase, parseCallbackParameters(query), 'query');
}

/** Judges parameters and takes them if they are a response and the login is still armed. */
export function acceptResponse<Accepted>(
  expected: LoginExpectations<Accepted>,
  phase: LoginPhase,
  parameters: CallbackParameters | undefined,
  place: ParameterLocation,
): RequestDecision<Accepted> {
  const accepted = parameters && expected.validate(parameters, place);
  if (accepted === undefined) {
    return refuseRequest('not_a_response');
  }
  return phase.kind === 'armed' ? { kind: 'taken', accepted, place } : refuseRequest('already_finished');
}

// Some servers name themselves in the query when all else is in the fragment (RFC 9207 §2): the bridge adds it to what it hands over.
function isBare(query: string, own: string): boolean {
  const beside = own !== '' && query.startsWith(`${own}&`) ? query.slice(own.length + 1) : query;
  return query === own || /^iss=[^&]+$/.test(beside);
}

// Half a set of Sec-Fetch headers is what no browser sends, so it must not be able to end a login.
function isNavigation(request: LoopbackRequest): boolean {
  const complete =
    headerValues(request, 'sec-fetch-mode').length > 0 && headerValues(request, 'sec-fetch-dest').length > 0;
  return complete || !hasHeaderWithPrefix(request, 'sec-fetch-');
}
