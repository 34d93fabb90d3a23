import { createHash } from 'node:crypto';
import { Secret } from '../../base/secret.ts';
import { equalInConstantTime } from '../../platform/constant-time.ts';
import { decodeGrant, type TokenGrant } from './grant.ts';

/** The values that the response to one authorization request must have. */
export interface ExpectedResponse {
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
 * An authorization code from a response whose state parameter was compared. Only `validateResponse` creates a
 * CheckedCode, and only a CheckedCode can be exchanged for a grant.
 */
export interface CheckedCode {
  readonly [validated]: 'code';
  readonly code: Secret;
}

/**
 * A grant from a URL fragment whose state parameter was compared. Only `validateResponse` creates a
 * CheckedGrant.
 */
interface CheckedGrant {
  readonly [validated]: 'implicit_grant';
  readonly grant: TokenGrant;
}

/** The result of validating an authorization response. */
export type AuthorizationResult =
  | { readonly kind: 'code'; readonly code: CheckedCode }
  | { readonly kind: 'implicit_grant'; readonly grant: CheckedGrant }
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
export function needsInteraction(error: AuthorizationErrorCode): boolean {
  return ['consent_required', 'login_required', 'interaction_required', 'account_selection_required'].includes(error);
}

type ResponseParameters = ReadonlyMap<string, string>;

/**
 * Validates the parameters of a redirect: first the state, then error or code
 * (https://www.rfc-editor.org/rfc/rfc6749#section-4.1.2, https://www.rfc-editor.org/rfc/rfc9207#section-2.4). Returns undefined
 * if the parameters are not an authorization response and are to be ignored.
 */
export function validateResponse(
  parameters: ResponseParameters,
  location: 'query' | 'fragment',
  expected: ExpectedResponse,
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
  const grant = decodeGrant(Object.fromEntries([...parameters].filter(([name]) => fields.includes(name))));
  return grant.ok
    ? { kind: 'implicit_grant', grant: { [validated]: 'implicit_grant', grant: grant.value } }
    : malformed(`has no valid grant: ${grant.reason}`);
}

function malformed(reason: string): AuthorizationResult {
  return { kind: 'malformed', reason };
}

export type OAuthFlow = 'code' | 'implicit';

interface AuthorizationRequest {
  readonly authOrigin: string;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly flow: OAuthFlow;
  /** The requested scope; if undefined, the parameter is omitted and the server uses `read` (docs/service.md S3.1). */
  readonly scope?: string | undefined;
  /** The state parameter: 256 random bits in base64url, new for every login. */
  readonly state: string;
  /** The parameter `prompt` of the authorization request; only the code flow has it. */
  readonly prompt?: string | undefined;
  /** The first 6 characters of the expected account UUID; sent only with `prompt=none`. */
  readonly accountHint?: string | undefined;
  /** The PKCE challenge (S256); absent with `--no-pkce` and in the implicit flow. */
  readonly challenge?: string | undefined;
}

/**
 * The authorization URL that the browser opens (docs/service.md S4.1; https://www.rfc-editor.org/rfc/rfc6749#section-4.1.1). The
 * authorization URL contains no secret and may be printed.
 */
export function buildAuthorizationUrl(request: AuthorizationRequest): string {
  const url = new URL('/v1/oauth/authorize', request.authOrigin);
  const parameters: readonly (readonly [string, string | undefined])[] = [
    ['response_type', request.flow === 'implicit' ? 'token' : 'code'],
    ['client_id', request.clientId],
    ['redirect_uri', request.redirectUri],
    ['scope', request.scope],
    ['state', request.state],
    ['prompt', request.prompt],
    ['i', request.accountHint],
    ['code_challenge', request.challenge],
    ['code_challenge_method', request.challenge === undefined ? undefined : 'S256'],
  ];
  for (const [name, value] of parameters) {
    if (value !== undefined) url.searchParams.append(name, value);
  }
  // A space is encoded as %20, because some servers do not decode "+" in a query.
  url.search = url.search.replaceAll('+', '%20');
  return url.href;
}

/** Creates the state parameter of one login: 256 random bits (RFC 6749 §10.12). */
export function createState(random: (bytes: number) => Uint8Array): string {
  return Buffer.from(random(32)).toString('base64url');
}

export interface Pkce {
  readonly verifier: Secret;
  readonly challenge: string;
}

/**
 * Proof key for code exchange, S256 (https://www.rfc-editor.org/rfc/rfc7636#section-4.2). A server that does not support PKCE
 * ignores its parameters (RFC 6749 §3.1).
 */
export function createPkce(random: (bytes: number) => Uint8Array): Pkce {
  const verifier = Buffer.from(random(32)).toString('base64url');
  const challenge = createHash('sha256').update(verifier, 'ascii').digest('base64url');
  return { verifier: new Secret(verifier), challenge };
}
