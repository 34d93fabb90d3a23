import { headerValues, type LoopbackRequest, rawPath } from '../loopback-request.ts';
import { type Refusal, refuseMethod, refuseRequest } from '../refusal.ts';
import type { LoginExpectations } from '../request-decision.ts';

/** Only this machine speaks to the helper, whatever the listener is bound to (RFC 8252 §8.3). */
export function checkLoopbackPeer(_: LoginExpectations<unknown>, request: LoopbackRequest): Refusal | undefined {
  const peer = request.peerAddress?.replace(/^::ffff:/, '') ?? '';
  return peer === '::1' || /^127(\.\d{1,3}){3}$/.test(peer) ? undefined : refuseRequest('forbidden');
}

/** GET everywhere, POST on the relay of the implicit flow, nothing else. */
export function checkMethod(expected: LoginExpectations<unknown>, request: LoopbackRequest): Refusal | undefined {
  const relay = expected.flow === 'implicit' && rawPath(request) === expected.paths.relay;
  const allow = relay ? 'POST' : 'GET';
  return request.method === allow ? undefined : refuseMethod(allow);
}

/** Exactly one Host header, equal to H: the defence against DNS rebinding. */
export function checkHost(expected: LoginExpectations<unknown>, request: LoopbackRequest): Refusal | undefined {
  const hosts = headerValues(request, 'host');
  return hosts.length === 1 && hosts[0] === expected.host ? undefined : refuseRequest('misdirected');
}
