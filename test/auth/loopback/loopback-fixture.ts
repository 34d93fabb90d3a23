import type { Expectations, HelperRequest, Phase } from '../../../src/auth/loopback/decide.ts';
import { type AuthorizationResult, validateResponse } from '../../../src/auth/oauth/authorize.ts';
import { isLoopbackPeer } from '../../../src/platform/loopback-host.ts';

/** One login for table tests: the helper at 127.0.0.1:8765, with the real judgement of the protocol behind it. */
export const state = 'c3RhdGUtb2YtdGhpcy1sb2dpbi1hbmQtbm8tb3RoZXI';
export const host = '127.0.0.1:8765';
export const armed: Phase = { kind: 'armed', started: false };
export const taken: Phase = { kind: 'taken' };

export function expected(
  flow: 'code' | 'implicit' = 'code',
  own: Partial<Expectations<AuthorizationResult>> = {},
): Expectations<AuthorizationResult> {
  return {
    isAllowedPeer: isLoopbackPeer,
    host,
    flow,
    callbackQuery: '',
    authorizationOrigin: 'https://cloud.example.com',
    nonce: 'nonce-of-the-bridge',
    validate: (parameters, place) => validateResponse(parameters, place, { state, flow }),
    paths: { callback: '/callback', relay: '/callback/fragment', start: '/start/s1', short: '/5b07', done: '/done/d1' },
    ...own,
  };
}

export const navigation: readonly string[] = [
  'Sec-Fetch-Mode',
  'navigate',
  'Sec-Fetch-Dest',
  'document',
  'Sec-Fetch-Site',
  'cross-site',
];

/** A genuine redirect, changed as the rule under test wants it. */
export function request(rawTarget: string, own: Partial<HelperRequest> = {}): HelperRequest {
  return { peerAddress: '127.0.0.1', method: 'GET', rawTarget, rawHeaders: ['Host', host, ...navigation], ...own };
}

export function withHeaders(...rawHeaders: readonly string[]): Partial<HelperRequest> {
  return { rawHeaders };
}

export const genuine = `/callback?code=the-code&state=${state}`;

/** What the bridge page sends. */
export function relayed(
  fragment: string,
  own: Partial<HelperRequest> = {},
  nonce = 'nonce-of-the-bridge',
): HelperRequest {
  return request('/callback/fragment', {
    method: 'POST',
    rawHeaders: relayHeaders,
    body: { kind: 'text', text: JSON.stringify({ nonce, fragment }) },
    ...own,
  });
}

export const relayHeaders: readonly string[] = [
  'Host',
  host,
  'Origin',
  `http://${host}`,
  'Content-Type',
  'application/json',
  'Sec-Fetch-Site',
  'same-origin',
  'Sec-Fetch-Mode',
  'cors',
  'Sec-Fetch-Dest',
  'empty',
];
