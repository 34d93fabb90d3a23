import {
  type CallbackParameterLocation,
  type CallbackParameters,
  parseCallbackParameters,
} from '../callback-parameters.ts';
import {
  hasHeaderWithPrefix,
  type LoopbackHttpRequest,
  readRawRequestQuery,
  readRequestHeaderValues,
} from '../loopback-http-request.ts';
import { buildLoopbackRefusal } from '../refusal.ts';
import type { LoopbackLoginPhase, LoopbackRequestDecision, LoopbackRequestExpectations } from '../request-decision.ts';

/**
 * Decides how to respond to a request for the callback path. The first authorization response ends the wait, whatever its
 * result; all later responses are refused. In the implicit flow, a callback request without parameters receives the bridge
 * page.
 */
export function decideCallbackRequest<Accepted>(
  expected: LoopbackRequestExpectations<Accepted>,
  phase: LoopbackLoginPhase,
  request: LoopbackHttpRequest,
): LoopbackRequestDecision<Accepted> {
  const query = readRawRequestQuery(request);
  if (expected.flow === 'implicit' && isBare(query, expected.callbackQuery)) {
    return phase.kind === 'armed' ? { kind: 'bridge' } : buildLoopbackRefusal('already_finished');
  }
  if (!isNavigation(request)) {
    return buildLoopbackRefusal('not_a_response');
  }
  return decideAuthorizationResponse(expected, phase, parseCallbackParameters(query), 'query');
}

/** Accepts the parameters if they are an authorization response and no response was accepted before. */
export function decideAuthorizationResponse<Accepted>(
  expected: LoopbackRequestExpectations<Accepted>,
  phase: LoopbackLoginPhase,
  parameters: CallbackParameters | undefined,
  place: CallbackParameterLocation,
): LoopbackRequestDecision<Accepted> {
  const accepted = parameters && expected.validate(parameters, place);
  if (accepted === undefined) {
    return buildLoopbackRefusal('not_a_response');
  }
  return phase.kind === 'armed' ? { kind: 'taken', accepted, place } : buildLoopbackRefusal('already_finished');
}

// Some servers send `iss` in the query and all other parameters in the fragment (RFC 9207 §2); the bridge page adds `iss` to
// the fragment.
function isBare(query: string, own: string): boolean {
  const beside = own !== '' && query.startsWith(`${own}&`) ? query.slice(own.length + 1) : query;
  return query === own || /^iss=[^&]+$/.test(beside);
}

// Every browser sends either all or none of the Sec-Fetch headers, so a request with only some of them must not end a login.
function isNavigation(request: LoopbackHttpRequest): boolean {
  const complete =
    readRequestHeaderValues(request, 'sec-fetch-mode').length > 0 &&
    readRequestHeaderValues(request, 'sec-fetch-dest').length > 0;
  return complete || !hasHeaderWithPrefix(request, 'sec-fetch-');
}
