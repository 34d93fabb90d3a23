import { headerValues, type LoopbackRequest, rawPath } from '../loopback-request.ts';
import { type Refusal, refuseMethod, refuseRequest } from '../refusal.ts';
import type { LoginExpectations } from '../request-decision.ts';

/** Only connections from this machine are accepted, whatever address is bound (RFC 8252 §8.3). */
export function checkLoopbackPeer(_: LoginExpectations<unknown>, request: LoopbackRequest): Refusal | undefined {
  const peer = request.peerAddress?.replace(/^::ffff:/, '') ?? '';
  return peer === '::1' || /^127(\.\d{1,3}){3}$/.test(peer) ? undefined : refuseRequest('forbidden');
}

/** GET, or POST on the relay of the implicit flow. */
export function checkMethod(expected: LoginExpectations<unknown>, request: LoopbackRequest): Refusal | undefined {
  const relay = expected.flow === 'implicit' && rawPath(request) === expected.paths.relay;
  const allow = relay ? 'POST' : 'GET';
  return request.method === allow ? undefined : refuseMethod(allow);
}

/** Exactly one Host header, with the authority of the callback URL: prevents DNS rebinding. */
export function checkHost(expected: LoginExpectations<unknown>, request: LoopbackRequest): Refusal | undefined {
  const hosts = headerValues(request, 'host');
  return hosts.length === 1 && hosts[0] === expected.host ? undefined : refuseRequest('misdirected');
}
