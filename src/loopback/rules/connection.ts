import { headerValues, type LoopbackRequest, rawPath } from '../loopback-request.ts';
import { type LoopbackRefusal, refuseHttpMethod, refuseRequest } from '../refusal.ts';
import type { LoginExpectations } from '../request-decision.ts';

/** The loopback server accepts only connections from this machine, whatever address it is bound to (RFC 8252 §8.3). */
export function checkLoopbackPeer(
  _: LoginExpectations<unknown>,
  request: LoopbackRequest,
): LoopbackRefusal | undefined {
  const peer = request.peerAddress?.replace(/^::ffff:/, '') ?? '';
  return peer === '::1' || /^127(\.\d{1,3}){3}$/.test(peer) ? undefined : refuseRequest('forbidden');
}

/**
 * The loopback server accepts requests only from the same user and from root, who runs port forwarders: another user who reads
 * the start URL from the list of processes would receive the state parameter and could complete the login with a different
 * account.
 */
export function checkPeerUser(
  _: LoginExpectations<unknown>,
  { isOtherUser }: LoopbackRequest,
): LoopbackRefusal | undefined {
  return isOtherUser === true ? refuseRequest('forbidden') : undefined;
}

/** The method must be GET, or POST for the relay of the implicit flow. */
export function checkMethod(
  expected: LoginExpectations<unknown>,
  request: LoopbackRequest,
): LoopbackRefusal | undefined {
  const relay = expected.flow === 'implicit' && rawPath(request) === expected.paths.relay;
  const allow = relay ? 'POST' : 'GET';
  return request.method === allow ? undefined : refuseHttpMethod(allow);
}

/** The request must have exactly one Host header with host and port of the callback URL, which prevents DNS rebinding. */
export function checkHost(expected: LoginExpectations<unknown>, request: LoopbackRequest): LoopbackRefusal | undefined {
  const hosts = headerValues(request, 'host');
  return hosts.length === 1 && hosts[0] === expected.host ? undefined : refuseRequest('misdirected');
}
