import { type LoopbackHttpRequest, readRawRequestPath, readRequestHeaderValues } from '../loopback-http-request.ts';
import { buildLoopbackHttpMethodRefusal, buildLoopbackRefusal, type LoopbackRefusal } from '../refusal.ts';
import type { LoopbackRequestExpectations } from '../request-decision.ts';

/**
 * The loopback server accepts only connections from this machine, whatever address it is bound to (RFC 8252 §8.3), or only
 * those from the networks that the user allowed.
 */
export function checkPeerAddress(
  expected: LoopbackRequestExpectations<unknown>,
  request: LoopbackHttpRequest,
): LoopbackRefusal | undefined {
  return expected.isAllowedPeer(request.peerAddress) ? undefined : buildLoopbackRefusal('forbidden');
}

/**
 * The loopback server accepts requests only from the same user and from root, who runs port forwarders: another user who reads
 * the start URL from the list of processes would receive the state parameter and could complete the login with a different
 * account.
 */
export function checkPeerUser(
  _: LoopbackRequestExpectations<unknown>,
  { isOtherUser }: LoopbackHttpRequest,
): LoopbackRefusal | undefined {
  return isOtherUser === true ? buildLoopbackRefusal('forbidden') : undefined;
}

/** The method must be GET, or POST for the relay of the implicit flow. */
export function checkLoopbackHttpMethod(
  expected: LoopbackRequestExpectations<unknown>,
  request: LoopbackHttpRequest,
): LoopbackRefusal | undefined {
  const relay = expected.flow === 'implicit' && readRawRequestPath(request) === expected.paths.relay;
  const allow = relay ? 'POST' : 'GET';
  return request.method === allow ? undefined : buildLoopbackHttpMethodRefusal(allow);
}

/** The request must have exactly one Host header with host and port of the callback URL, which prevents DNS rebinding. */
export function checkHostHeader(
  expected: LoopbackRequestExpectations<unknown>,
  request: LoopbackHttpRequest,
): LoopbackRefusal | undefined {
  const hosts = readRequestHeaderValues(request, 'host');
  return hosts.length === 1 && hosts[0] === expected.host ? undefined : buildLoopbackRefusal('misdirected');
}
