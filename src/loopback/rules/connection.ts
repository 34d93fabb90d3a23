import { type Refusal, refuse, refuseMethod } from '../refusal.ts';
import { headerValues, type LoopbackRequest, rawPath } from '../request.ts';
import type { Expected } from '../rule.ts';

/** Only this machine speaks to the helper, whatever the listener is bound to (RFC 8252 §8.3). */
export function loopbackPeer(_: Expected<unknown>, request: LoopbackRequest): Refusal | undefined {
  const peer = request.peerAddress?.replace(/^::ffff:/, '') ?? '';
  return peer === '::1' || /^127(\.\d{1,3}){3}$/.test(peer) ? undefined : refuse('forbidden');
}

/** GET everywhere, POST on the relay of the implicit flow, nothing else. */
export function allowedMethod(expected: Expected<unknown>, request: LoopbackRequest): Refusal | undefined {
  const relay = expected.flow === 'implicit' && rawPath(request) === expected.paths.relay;
  const allow = relay ? 'POST' : 'GET';
  return request.method === allow ? undefined : refuseMethod(allow);
}

/** Exactly one Host header, equal to H: the defence against DNS rebinding. */
export function exactHost(expected: Expected<unknown>, request: LoopbackRequest): Refusal | undefined {
  const hosts = headerValues(request, 'host');
  return hosts.length === 1 && hosts[0] === expected.host ? undefined : refuse('misdirected');
}
