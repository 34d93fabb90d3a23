import { parseParameters } from '../parameters.ts';
import { bodyLimit } from '../read-body.ts';
import { type Refusal, refuse } from '../refusal.ts';
import { hasHeader, headerValues, type LoopbackRequest, rawPath, rawQuery } from '../request.ts';
import type { Expected } from '../rule.ts';

/** Origin form with one slash: absolute form and `//` are refused, and so is what no browser sends raw. */
export function originForm(_: Expected<unknown>, request: LoopbackRequest): Refusal | undefined {
  return /^\/(?!\/)[\x21\x22\x24-\x7e]*$/.test(request.rawTarget) ? undefined : refuse('not_a_response');
}

/** The raw path is one of ours, byte for byte: `new URL` would fold `/x/../callback` and `%2e%2e`. */
export function knownPath(expected: Expected<unknown>, request: LoopbackRequest): Refusal | undefined {
  const { callback, relay, start, done } = expected.paths;
  const known = expected.flow === 'implicit' ? [callback, relay, start, done] : [callback, start, done];
  return known.includes(rawPath(request)) ? undefined : refuse('not_found');
}

/** A body that says it is too long is not read at all; one that turns out to be is not kept. */
export function boundedBody(_: Expected<unknown>, request: LoopbackRequest): Refusal | undefined {
  const announced = headerValues(request, 'content-length').some((length) => !(Number(length) <= bodyLimit));
  return announced || request.body?.kind === 'too_long' ? refuse('body_too_large') : undefined;
}

/** Nobody is kept waiting for a 100: browsers do not ask for one. */
export function noExpectation(_: Expected<unknown>, request: LoopbackRequest): Refusal | undefined {
  return hasHeader(request, 'expect') ? refuse('expectation_failed') : undefined;
}

/** A repeated parameter could be read one way here and another way at the server (RFC 6749 §3.1). */
export function noRepeatedParameter(_: Expected<unknown>, request: LoopbackRequest): Refusal | undefined {
  return parseParameters(rawQuery(request)) === undefined ? refuse('not_a_response') : undefined;
}
