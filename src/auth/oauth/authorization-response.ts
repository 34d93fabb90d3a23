import { Secret } from '../../base/secret.ts';
import { equalInConstantTime } from '../../platform/equal-in-constant-time.ts';
import type { OAuthFlow } from './build-authorization-url.ts';
import { decodeTokenGrant, type TokenGrant } from './token-grant.ts';

/** The values that the response to one authorization request must have. */
export interface ExpectedAuthorizationResponse {
  /** The state parameter of the authorization request (docs/service.md S4.6). */
  readonly state: string;
  readonly flow: OAuthFlow;
  /**
   * The issuer that the profile configures; the response must name it. Without a configured issuer, the parameter `iss` is
   * ignored (RFC 9207 §2.4).
   */
  readonly issuer?: string | undefined;
}

/**
 * An authorization code from a response whose state parameter was compared. Only `validateAuthorizationResponse` creates a
 * StateCheckedAuthorizationCode, and only a StateCheckedAuthorizationCode can be exchanged for a grant.
 */
export interface StateCheckedAuthorizationCode {
  readonly [validated]: 'code';
  readonly code: Secret;
}

/**
 * A grant from a URL fragment whose state parameter was compared. Only `validateAuthorizationResponse` creates a
 * ValidatedImplicitGrant.
 */
export interface ValidatedImplicitGrant {
  readonly [validated]: 'implicit_grant';
  readonly grant: TokenGrant;
}

/** The result of validating an authorization response. */
export type AuthorizationResult =
  | { readonly kind: 'code'; readonly code: StateCheckedAuthorizationCode }
  | { readonly kind: 'implicit_grant'; readonly grant: ValidatedImplicitGrant }
  /** `description` is the text of the server and must be sanitized before it is printed. */
  | { readonly kind: 'error'; readonly error: AuthorizationErrorCode; readonly description?: string }
  /** The response belongs to another login, so its other parameters are discarded. */
  | { readonly kind: 'state_mismatch' }
  /** `reason` completes the sentence "the authorization response …" and quotes no value of the response. */
  | { readonly kind: 'malformed'; readonly reason: string };

const errorCodes = [
  'access_denied',
  'consent_required',
  'login_required',
  'interaction_required',
  'account_selection_required',
  'invalid_scope',
  'server_error',
  'temporarily_unavailable',
  'unsupported_response_type',
  'unauthorized_client',
] as const;

/** Error codes of an authorization response (docs/service.md S4; RFC 6749 §4.1.2.1; OpenID Connect Core §3.1.2.6); any other code becomes `unknown`. */
export type AuthorizationErrorCode = (typeof errorCodes)[number] | 'unknown';

/** Whether a person must act on a page of the server, for which `prompt=none` leaves no room (OpenID Connect Core §3.1.2.6). */
export function isInteractionRequiredError(error: AuthorizationErrorCode): boolean {
  return ['consent_required', 'login_required', 'interaction_required', 'account_selection_required'].includes(error);
}

type ResponseParameters = ReadonlyMap<string, string>;

/**
 * Validates the parameters of a redirect: first the state, then error or code
 * (https://www.rfc-editor.org/rfc/rfc6749#section-4.1.2, https://www.rfc-editor.org/rfc/rfc9207#section-2.4). Returns undefined
 * if the parameters are not an authorization response and are to be ignored.
 */
export function validateAuthorizationResponse(
  parameters: ResponseParameters,
  location: 'query' | 'fragment',
  expected: ExpectedAuthorizationResponse,
): AuthorizationResult | undefined {
  const isSameState = equalInConstantTime(parameters.get('state') ?? '', expected.state);
  if (!isResponse(parameters, location)) {
    return location === 'query' && parameters.has('access_token') && isSameState ? malformed(tokenInQuery) : undefined;
  }
  if (!isSameState) {
    return { kind: 'state_mismatch' };
  }
  const issuer = parameters.get('iss');
  if (expected.issuer !== undefined && issuer !== expected.issuer) {
    return malformed(issuer === undefined ? 'names no issuer' : 'has another issuer than the profile');
  }
  const results = listResults(parameters);
  if (location === 'query' && parameters.has('access_token')) {
    return malformed(tokenInQuery);
  }
  if (results.length > 1) {
    return malformed(`has both ${results.join(' and ')}`);
  }
  return validateResult(results[0], parameters, location, expected.flow);
}

const validated: unique symbol = Symbol('judged');
const tokenInQuery = 'has an access token in the query';

function isResponse(parameters: ResponseParameters, location: 'query' | 'fragment'): boolean {
  return (
    parameters.has('code') || parameters.has('error') || (location === 'fragment' && parameters.has('access_token'))
  );
}

/** The names of the results in a response. Some servers send every parameter: an empty one beside another means that it is absent. */
function listResults(parameters: ResponseParameters): readonly string[] {
  const named = ['error', 'code', 'access_token'].filter((name) => parameters.has(name));
  const filled = named.filter((name) => parameters.get(name) !== '');
  return filled.length > 0 ? filled : named;
}

function validateResult(
  name: string | undefined,
  parameters: ResponseParameters,
  location: 'query' | 'fragment',
  flow: OAuthFlow,
): AuthorizationResult {
  if (name === 'error') {
    return decodeError(parameters.get('error') ?? '', parameters.get('error_description'));
  }
  if (flow === 'implicit') {
    return name === 'code' ? malformed('has a code instead of an access token') : validateImplicitGrant(parameters);
  }
  const code = parameters.get('code') ?? '';
  if (location === 'fragment') {
    return malformed('has its parameters in the fragment instead of the query');
  }
  // A code consists of visible ASCII characters and spaces (VSCHAR of RFC 6749 appendix A.11).
  if (!/^[\x20-\x7e]+$/.test(code)) {
    return malformed('has an empty or unprintable code');
  }
  return { kind: 'code', code: { [validated]: 'code', code: new Secret(code) } };
}

function decodeError(written: string, description: string | undefined): AuthorizationResult {
  const error = errorCodes.find((known) => known === written) ?? 'unknown';
  // An unknown error code of the server is reported unchanged.
  const name = error === 'unknown' && /^[a-z_]{1,64}$/.test(written) ? written : undefined;
  const text = [name, description].filter((part) => part !== undefined && part !== '').join(': ');
  return { kind: 'error', error, ...(text === '' ? {} : { description: text }) };
}

/**
 * https://www.rfc-editor.org/rfc/rfc6749#section-4.2.2: the implicit flow issues no refresh token, so a parameter
 * `refresh_token` is ignored.
 */
function validateImplicitGrant(parameters: ResponseParameters): AuthorizationResult {
  const fields = ['access_token', 'token_type', 'expires_in', 'scope'];
  const grant = decodeTokenGrant(Object.fromEntries([...parameters].filter(([name]) => fields.includes(name))));
  return grant.ok
    ? { kind: 'implicit_grant', grant: { [validated]: 'implicit_grant', grant: grant.value } }
    : malformed(`has no valid grant: ${grant.reason}`);
}

function malformed(reason: string): AuthorizationResult {
  return { kind: 'malformed', reason };
}
