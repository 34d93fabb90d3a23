import { headerValues, type LoopbackRequest, rawPath } from '../loopback-request.ts';
import { type LoopbackRefusal, refuseRequest } from '../refusal.ts';
import type { LoginExpectations } from '../request-decision.ts';

/** Only a top-level navigation may request a page: an `<img>`, a frame or a no-cors fetch must not end a login. */
export function checkTopLevelNavigation(
  expected: LoginExpectations<unknown>,
  request: LoopbackRequest,
): LoopbackRefusal | undefined {
  if (isRelay(expected, request)) {
    return undefined;
  }
  const navigates = headerValues(request, 'sec-fetch-mode').every((mode) => mode === 'navigate');
  const document = headerValues(request, 'sec-fetch-dest').every((destination) => destination === 'document');
  return navigates && document ? undefined : refuseRequest('forbidden');
}

/** An Origin header on the callback is that of the authorization server or null; requests of other sites are refused. */
export function checkCallbackOrigin(
  expected: LoginExpectations<unknown>,
  request: LoopbackRequest,
): LoopbackRefusal | undefined {
  if (rawPath(request) !== expected.paths.callback) {
    return undefined;
  }
  const known = (origin: string) => origin === expected.authorizationOrigin || origin === 'null';
  return headerValues(request, 'origin').every(known) ? undefined : refuseRequest('forbidden');
}

/** The relay accepts only its own page: same origin in both headers, and a content type that no form can send. */
export function checkRelaySender(
  expected: LoginExpectations<unknown>,
  request: LoopbackRequest,
): LoopbackRefusal | undefined {
  if (!isRelay(expected, request)) {
    return undefined;
  }
  const origins = headerValues(request, 'origin');
  const types = headerValues(request, 'content-type');
  const own = origins.length === 1 && origins[0] === `http://${expected.host}`;
  const site = headerValues(request, 'sec-fetch-site').every((value) => value === 'same-origin');
  const json = types.length === 1 && /^application\/json(?:\s*;\s*charset=utf-8)?$/i.test(types[0] ?? '');
  return own && site && json ? undefined : refuseRequest('forbidden');
}

function isRelay(expected: LoginExpectations<unknown>, request: LoopbackRequest): boolean {
  return expected.flow === 'implicit' && rawPath(request) === expected.paths.relay;
}
