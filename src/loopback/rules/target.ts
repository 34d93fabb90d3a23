import { parseCallbackParameters } from '../callback-parameters.ts';
import { hasHeaderWithPrefix, headerValues, type LoopbackRequest, rawPath, rawQuery } from '../loopback-request.ts';
import { maxRequestBodyBytes } from '../read-request-body.ts';
import { type LoopbackRefusal, refuseRequest } from '../refusal.ts';
import type { LoginExpectations } from '../request-decision.ts';

/** The request target must have origin form with one slash; absolute form, `//` and characters that browsers encode are refused. */
export function checkOriginForm(_: LoginExpectations<unknown>, request: LoopbackRequest): LoopbackRefusal | undefined {
  return /^\/(?!\/)[\x21\x22\x24-\x7e]*$/.test(request.rawTarget) ? undefined : refuseRequest('not_a_response');
}

/** The raw path must equal a known path byte by byte, because `new URL` would normalize `/x/../callback` and `%2e%2e`. */
export function checkKnownPath(
  expected: LoginExpectations<unknown>,
  request: LoopbackRequest,
): LoopbackRefusal | undefined {
  const { callback, relay, start, done } = expected.paths;
  const known = expected.flow === 'implicit' ? [callback, relay, start, done] : [callback, start, done];
  return known.includes(rawPath(request)) ? undefined : refuseRequest('not_found');
}

/** A body whose Content-Length is too large is not read; if a body without Content-Length is too long, it is discarded. */
export function checkBodySize(_: LoginExpectations<unknown>, request: LoopbackRequest): LoopbackRefusal | undefined {
  const announced = headerValues(request, 'content-length').some((length) => !(Number(length) <= maxRequestBodyBytes));
  return announced || request.body?.kind === 'too_long' ? refuseRequest('body_too_large') : undefined;
}

/** Browsers never send an Expect header. */
export function checkNoExpectHeader(
  _: LoginExpectations<unknown>,
  request: LoopbackRequest,
): LoopbackRefusal | undefined {
  return hasHeaderWithPrefix(request, 'expect') ? refuseRequest('expectation_failed') : undefined;
}

/** The loopback server and the authorization server could interpret a repeated parameter differently (RFC 6749 §3.1). */
export function checkNoRepeatedParameter(
  _: LoginExpectations<unknown>,
  request: LoopbackRequest,
): LoopbackRefusal | undefined {
  return parseCallbackParameters(rawQuery(request)) === undefined ? refuseRequest('not_a_response') : undefined;
}
