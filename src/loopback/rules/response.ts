import { type Parameters, type Place, parseParameters } from '../parameters.ts';
import { refuse } from '../refusal.ts';
import { hasHeader, headerValues, type LoopbackRequest, rawQuery } from '../request.ts';
import type { Decision, Expected, Phase } from '../rule.ts';

/**
 * The redirect itself: a response is judged, state before error before code, and the first one of any kind ends the
 * login. Everything else is noise. With the implicit flow the bare callback serves the bridge.
 */
export function callbackResponse<Accepted>(
  expected: Expected<Accepted>,
  phase: Phase,
  request: LoopbackRequest,
): Decision<Accepted> {
  const query = rawQuery(request);
  if (expected.flow === 'implicit' && isBare(query, expected.callbackQuery)) {
    return phase.kind === 'armed' ? { kind: 'bridge' } : refuse('already_finished');
  }
  if (!isNavigation(request)) {
    return refuse('not_a_response');
  }
  return latch(expected, phase, parseParameters(query), 'query');
}

/** Judges parameters and takes them if they are a response and the login is still armed. */
export function latch<Accepted>(
  expected: Expected<Accepted>,
  phase: Phase,
  parameters: Parameters | undefined,
  place: Place,
): Decision<Accepted> {
  const accepted = parameters && expected.judge(parameters, place);
  if (accepted === undefined) {
    return refuse('not_a_response');
  }
  return phase.kind === 'armed' ? { kind: 'taken', accepted, place } : refuse('already_finished');
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
  return complete || !hasHeader(request, 'sec-fetch-');
}
