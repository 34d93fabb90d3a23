import { headerValues, type LoopbackRequest, rawPath } from '../loopback-request.ts';
import { type LoopbackRefusal, refuseHttpMethod, refuseRequest } from '../refusal.ts';
import type { LoginExpectations } from '../request-decision.ts';

/** Only connections from this machine are accepted, whatever address is bound (RFC 8252 §8.3). */
export function checkLoopbackPeer(
  _: LoginExpectations<unknown>,
  request: LoopbackRequest,
): LoopbackRefusal | undefined {
  const peer = request.peerAddress?.replace(/^::ffff:/, '') ?? '';
  return peer === '::1' || /^127(\.\d{1,3}){3}$/.test(peer) ? undefined : refuseRequest('forbidden');
}

/**
 * Only this user, and root, under which port forwarders run: another user who reads the start URL from the list of processes
 * would receive the state, and could log this user in to an account of their own.
 */
export function checkPeerUser(
  _: LoginExpectations<unknown>,
  { isOtherUser }: LoopbackRequest,
): LoopbackRefusal | undefined {
  return isOtherUser === true ? refuseRequest('forbidden') : undefined;
}

/** GET, or POST on the relay of the implicit flow. */
export function checkMethod(
  expected: LoginExpectations<unknown>,
  request: LoopbackRequest,
): LoopbackRefusal | undefined {
  const relay = expected.flow === 'implicit' && rawPath(request) === expected.paths.relay;
  const allow = relay ? 'POST' : 'GET';
  return request.method === allow ? undefined : refuseHttpMethod(allow);
}

/** Exactly one Host header, with the authority of the callback URL: prevents DNS rebinding. */
export function checkHost(expected: LoginExpectations<unknown>, request: LoopbackRequest): LoopbackRefusal | undefined {
  const hosts = headerValues(request, 'host');
  return hosts.length === 1 && hosts[0] === expected.host ? undefined : refuseRequest('misdirected');
}
