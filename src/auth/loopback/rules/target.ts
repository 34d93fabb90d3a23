import { parseCallbackParameters } from '../callback-parameters.ts';
import {
  hasHeaderWithPrefix,
  readRawRequestPath,
  readRawRequestQuery,
  readRequestHeaderValues,
} from '../loopback-http-request.ts';
import { maxLoopbackRequestBodyBytes } from '../read-request-body.ts';
import { buildLoopbackRefusal } from '../refusal.ts';
import type { LoopbackRequestCheck } from '../request-decision.ts';

/** The request target must have origin form with one slash; absolute form, `//` and characters that browsers encode are refused. */
export const checkOriginFormTarget: LoopbackRequestCheck = (_, request) =>
  /^\/(?!\/)[\x21\x22\x24-\x7e]*$/.test(request.rawTarget) ? undefined : buildLoopbackRefusal('not_a_response');

/** The raw path must equal a known path byte by byte, because `new URL` would normalize `/x/../callback` and `%2e%2e`. */
export const checkLoopbackPath: LoopbackRequestCheck = (expected, request) => {
  const { callback, relay, start, done } = expected.paths;
  const known = expected.flow === 'implicit' ? [callback, relay, start, done] : [callback, start, done];
  return known.includes(readRawRequestPath(request)) ? undefined : buildLoopbackRefusal('not_found');
};

/** A body whose Content-Length is too large is not read; if a body without Content-Length is too long, it is discarded. */
export const checkLoopbackBodySize: LoopbackRequestCheck = (_, request) => {
  const announced = readRequestHeaderValues(request, 'content-length').some(
    (length) => !(Number(length) <= maxLoopbackRequestBodyBytes),
  );
  return announced || request.body?.kind === 'too_long' ? buildLoopbackRefusal('body_too_large') : undefined;
};

/** Browsers never send an Expect header. */
export const checkLoopbackRequestHasNoExpectHeader: LoopbackRequestCheck = (_, request) =>
  hasHeaderWithPrefix(request, 'expect') ? buildLoopbackRefusal('expectation_failed') : undefined;

/** The loopback server and the authorization server could interpret a repeated parameter differently (RFC 6749 §3.1). */
export const checkLoopbackTargetHasNoRepeatedParameter: LoopbackRequestCheck = (_, request) =>
  parseCallbackParameters(readRawRequestQuery(request)) === undefined
    ? buildLoopbackRefusal('not_a_response')
    : undefined;
