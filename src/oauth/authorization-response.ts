import { createHash, timingSafeEqual } from 'node:crypto';
import { Secret } from '../secret.ts';
import type { OAuthFlow } from './authorization-url.ts';
import { decodeGrant, type TokenGrant } from './token-grant.ts';

/** What the response to one authorization request must show. */
export interface ExpectedAuthorizationResponse {
  /** The state that was sent (spec.md §4.1). */
  readonly state: string;
  readonly flow: OAuthFlow;
  /** The issuer the profile names; without one `iss` is not looked at (RFC 9207 §2.4). */
  readonly issuer?: string | undefined;
}

/** A code whose state was compared; only `judgeResponse` makes one, and only one can be exchanged. */
export interface ValidatedCode {
  readonly [validated]: 'code';
  readonly code: Secret;
}

/** A grant from a fragment whose state was compared; only `judgeResponse` makes one. */
export interface ValidatedImplicitGrant {
  readonly [validated]: 'implicit_grant';
  readonly grant: TokenGrant;
}

/** What an authorization response came to. */
export type AuthorizationResult =
  | { readonly kind: 'code'; readonly code: ValidatedCode }
  | { readonly kind: 'implicit_grant'; readonly grant: ValidatedImplicitGrant }
  /** `description` is the server's own text: it must be cleaned before it is shown. */
  | { readonly kind: 'error'; readonly error: AuthorizationErrorCode; readonly description?: string }
  /** Nothing else of such a response is kept: it is not an answer to this login. */
  | { readonly kind: 'state_mismatch' }
  /** `reason` ends the sentence "the authorization response …" and quotes nothing of it. */
  | { readonly kind: 'malformed'; readonly reason: string };

const errorCodes = [
  'access_denied',
  'consent_required',
  'login_required',
  'invalid_scope',
  'server_error',
  'temporarily_unavailable',
  'unsupported_response_type',
  'unauthorized_client',
] as const;

/** Error codes of the redirect (spec.md §7; RFC 6749 §4.1.2.1); any other is `unknown`. */
export type AuthorizationErrorCode = (typeof errorCodes)[number] | 'unknown';

type ResponseParameters = ReadonlyMap<string, string>;

/**
 * Judges the parameters of a redirect: state before error before code
 * (https://www.rfc-editor.org/rfc/rfc6749#section-4.1.2, https://www.rfc-editor.org/rfc/rfc9207#section-2.4).
 * undefined: no authorization response at all, to be ignored.
 */
export function validateAuthorizationResponse(
  parameters: ResponseParameters,
  place: 'query' | 'fragment',
  expected: ExpectedAuthorizationResponse,
): AuthorizationResult | undefined {
  const sameState = isEqualInConstantTime(parameters.get('state') ?? '', expected.state);
  if (!isResponse(parameters, place)) {
    return place === 'query' && parameters.has('access_token') && sameState ? malformed(tokenInQuery) : undefined;
  }
  if (!sameState) {
    return { kind: 'state_mismatch' };
  }
  const issuer = parameters.get('iss');
  if (expected.issuer !== undefined && issuer !== undefined && issuer !== expected.issuer) {
    return malformed('names another issuer than the profile does');
  }
  const results = ['error', 'code', 'access_token'].filter((name) => parameters.has(name));
  if (place === 'query' && parameters.has('access_token')) {
    return malformed(tokenInQuery);
  }
  if (results.length > 1) {
    return malformed(`carries ${results.join(' and ')} together`);
  }
  return validateResult(parameters, place, expected.flow);
}

const validated: unique symbol = Symbol('judged');
const tokenInQuery = 'carries an access token in the query';

function isResponse(parameters: ResponseParameters, place: 'query' | 'fragment'): boolean {
  return parameters.has('code') || parameters.has('error') || (place === 'fragment' && parameters.has('access_token'));
}

function validateResult(
  parameters: ResponseParameters,
  place: 'query' | 'fragment',
  flow: OAuthFlow,
): AuthorizationResult {
  const error = parameters.get('error');
  if (error !== undefined) {
    return decodeError(error, parameters.get('error_description'));
  }
  if (flow === 'implicit') {
    return validateImplicitGrant(parameters);
  }
  const code = parameters.get('code') ?? '';
  if (place === 'fragment') {
    return malformed('carries its parameters in the fragment, where a code never stands');
  }
  // VSCHAR of RFC 6749 appendix A.11.
  if (!/^[\x20-\x7e]+$/.test(code)) {
    return malformed('carries an empty or unprintable code');
  }
  return { kind: 'code', code: { [validated]: 'code', code: new Secret(code) } };
}

function decodeError(written: string, description: string | undefined): AuthorizationResult {
  const error = errorCodes.find((known) => known === written) ?? 'unknown';
  // What we have no words for is told by its name.
  const name = error === 'unknown' && /^[a-z_]{1,64}$/.test(written) ? written : undefined;
  const told = [name, description].filter((part) => part !== undefined && part !== '').join(': ');
  return { kind: 'error', error, ...(told === '' ? {} : { description: told }) };
}

/** https://www.rfc-editor.org/rfc/rfc6749#section-4.2.2; a refresh token never comes this way, so none is taken. */
function validateImplicitGrant(parameters: ResponseParameters): AuthorizationResult {
  if (parameters.has('code')) {
    return malformed('carries a code, but an access token was asked for');
  }
  const fields = ['access_token', 'token_type', 'expires_in', 'scope'];
  const grant = decodeGrant(Object.fromEntries([...parameters].filter(([name]) => fields.includes(name))));
  return grant.ok
    ? { kind: 'implicit_grant', grant: { [validated]: 'implicit_grant', grant: grant.value } }
    : malformed(`carries no usable grant: ${grant.reason}`);
}

function malformed(reason: string): AuthorizationResult {
  return { kind: 'malformed', reason };
}

// Digests have one length, so neither the length nor the content of the state can be measured.
function isEqualInConstantTime(a: string, b: string): boolean {
  return timingSafeEqual(createHash('sha256').update(a).digest(), createHash('sha256').update(b).digest());
}
