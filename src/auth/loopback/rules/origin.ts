import { type LoopbackHttpRequest, readRawRequestPath, readRequestHeaderValues } from '../loopback-http-request.ts';
import { buildLoopbackRefusal } from '../refusal.ts';
import type { LoopbackRequestCheck, LoopbackRequestExpectations } from '../request-decision.ts';

/** A page may be requested only by a top-level navigation, so that an `<img>`, a frame or a no-cors fetch cannot end a login. */
export const checkTopLevelNavigation: LoopbackRequestCheck = (expected, request) => {
  if (isRelay(expected, request)) {
    return undefined;
  }
  const navigates = readRequestHeaderValues(request, 'sec-fetch-mode').every((mode) => mode === 'navigate');
  const document = readRequestHeaderValues(request, 'sec-fetch-dest').every(
    (destination) => destination === 'document',
  );
  return navigates && document ? undefined : buildLoopbackRefusal('forbidden');
};

/**
 * The Origin header of a callback request must be that of the authorization server or null; requests from other sites are
 * refused.
 */
export const checkCallbackOriginHeader: LoopbackRequestCheck = (expected, request) => {
  if (readRawRequestPath(request) !== expected.paths.callback) {
    return undefined;
  }
  const known = (origin: string) => origin === expected.authorizationOrigin || origin === 'null';
  return readRequestHeaderValues(request, 'origin').every(known) ? undefined : buildLoopbackRefusal('forbidden');
};

/**
 * The relay accepts requests only from the bridge page: Origin and Sec-Fetch-Site must be same-origin, and the content type
 * must be one that no HTML form can send.
 */
export const checkRelaySender: LoopbackRequestCheck = (expected, request) => {
  if (!isRelay(expected, request)) {
    return undefined;
  }
  const origins = readRequestHeaderValues(request, 'origin');
  const types = readRequestHeaderValues(request, 'content-type');
  const own = origins.length === 1 && origins[0] === `http://${expected.host}`;
  const site = readRequestHeaderValues(request, 'sec-fetch-site').every((value) => value === 'same-origin');
  const json = types.length === 1 && /^application\/json(?:\s*;\s*charset=utf-8)?$/i.test(types[0] ?? '');
  return own && site && json ? undefined : buildLoopbackRefusal('forbidden');
};

function isRelay(expected: LoopbackRequestExpectations<unknown>, request: LoopbackHttpRequest): boolean {
  return expected.flow === 'implicit' && readRawRequestPath(request) === expected.paths.relay;
}
