import { type Reply, redirectReply } from '../http/reply.ts';
import {
  asciiQuery,
  type HttpRequest,
  type RequestParameters,
  readParameters,
  readRawParameter,
} from '../http/request.ts';
import { renderError } from '../panel/panel-page.ts';
import type { Application, OAuthScope } from '../records.ts';
import type { Service } from '../service.ts';
import type { World } from '../world.ts';

/** A request whose client and redirect URI are valid, so that errors may be sent to the redirect URI. */
export interface RuleInput {
  readonly parameters: RequestParameters;
  readonly application: Application;
  readonly redirectTo: RedirectTarget;
}

/**
 * Checks one property of an authorization request. If the rule returns a reply, the request is rejected with it; undefined
 * continues with the next rule.
 */
export type AuthorizationRule = (input: RuleInput) => Reply | undefined;

/** A validated authorization request (RFC 6749 §4.1.1). */
export interface AuthorizationRequest {
  readonly application: Application;
  readonly redirectTo: RedirectTarget;
  readonly responseType: 'code' | 'token';
  readonly scope: OAuthScope;
  readonly prompt: 'none' | 'select_account';
  /** The first six characters of the expected account's UUID. */
  readonly hint?: string;
  readonly challenge?: string;
}

const RULES: readonly AuthorizationRule[] = [
  checkRepeatedParameters,
  checkScopeParameter,
  checkResponseType,
  checkCodeChallenge,
  checkPromptParameter,
  checkAccountHintParameter,
];

/** Applies the validation rules in order; the first rule that fails creates the reply (RFC 6749 §4.1.2.1). */
export function validateAuthorization(
  request: HttpRequest,
  service: Service,
  status: 302 | 303,
): AuthorizationRequest | Reply {
  const parameters = readParameters(request.query, '', '');
  const application = validateClient(parameters, service.world);
  if ('status' in application) return application;
  const redirectUri = checkRedirectUri(parameters, application);
  if (typeof redirectUri !== 'string') return redirectUri;

  const rawState = parameters.isRepeated('state') ? undefined : readRawParameter(request.query, 'state');
  const redirectTo: RedirectTarget = { redirectUri, status, ...(rawState === undefined ? {} : { rawState }) };
  for (const rule of RULES) {
    const reply = rule({ parameters, application, redirectTo });
    if (reply !== undefined) return reply;
  }
  const responseType = readResponseType(parameters) ?? 'code';
  const hint = parameters.get('i');
  const challenge = parameters.get('code_challenge');
  return {
    application,
    redirectTo,
    responseType,
    scope: readRequestedScope(parameters) ?? 'read',
    prompt: responseType === 'token' ? 'select_account' : (readPrompt(parameters) ?? 'select_account'),
    ...(hint === undefined ? {} : { hint }),
    ...(challenge === undefined || responseType === 'token' ? {} : { challenge }),
  };
}

/** The error is shown as a page, because without a known client there is no valid redirect URI (RFC 6749 §4.1.2.1). */
export function validateClient(parameters: RequestParameters, world: World): Application | Reply {
  const clientId = parameters.get('client_id');
  if (parameters.isRepeated('client_id')) return renderError(400, 'The client id is included more than once.');
  if (clientId === undefined) return renderError(400, 'The client id is missing.');
  return (
    world.registry.application(clientId) ??
    renderError(400, 'The client id included is not valid.', [['Received', clientId]])
  );
}

/** Compares redirect URIs as strings, byte for byte (RFC 9700 §4.1.3), and never redirects to an unregistered URI. */
export function checkRedirectUri(parameters: RequestParameters, application: Application): string | Reply {
  const received = parameters.get('redirect_uri');
  if (!parameters.isRepeated('redirect_uri') && received !== undefined && application.callbackUrls.includes(received)) {
    return received;
  }
  return renderError(400, 'The redirect uri included is not valid.', [
    ['Received', parameters.isRepeated('redirect_uri') ? '(more than one)' : (received ?? '(none)')],
    ...application.callbackUrls.map((url) => ['Registered', url] as const),
  ]);
}

/** A known parameter must not be repeated (RFC 6749 §3.1). Unknown parameters may be repeated, because they are ignored. */
function checkRepeatedParameters({ parameters, redirectTo }: RuleInput): Reply | undefined {
  const repeated = PARAMETERS.find((name) => parameters.isRepeated(name));
  if (repeated === undefined) return undefined;
  return redirectWithError(redirectTo, 'invalid_request', `The parameter ${repeated} is included more than once.`);
}

const PARAMETERS = [
  'response_type',
  'scope',
  'state',
  'prompt',
  'i',
  'code_challenge',
  'code_challenge_method',
] as const;

/** For an invalid scope, an error page is shown and the browser is never redirected (docs/service.md S4.5). */
function checkScopeParameter({ parameters }: RuleInput): Reply | undefined {
  if (readRequestedScope(parameters) !== undefined) return undefined;
  const received: readonly [string, string] = ['Received', parameters.get('scope') ?? ''];
  return renderError(400, 'The requested scope is invalid, unknown, or malformed.', [
    received,
    ['Valid', 'read'],
    ['Valid', 'read write'],
  ]);
}

export function readRequestedScope(parameters: RequestParameters): OAuthScope | undefined {
  return parseOAuthScope(parameters.get('scope') ?? '');
}

/**
 * Accepts the words `read` and `write` in either order, separated by one space. An empty scope means `read`; the result is
 * undefined for any other text.
 */
export function parseOAuthScope(text: string): OAuthScope | undefined {
  return SCOPES.get(text);
}

const SCOPES: ReadonlyMap<string, OAuthScope> = new Map([
  ['', 'read'],
  ['read', 'read'],
  ['read write', 'read write'],
  ['write read', 'read write'],
]);

/** A missing response type and an unknown response type have different error codes (RFC 6749 §4.1.2.1). */
function checkResponseType({ parameters, redirectTo }: RuleInput): Reply | undefined {
  if (readResponseType(parameters) !== undefined) return undefined;
  if (parameters.get('response_type') === undefined) {
    return redirectWithError(redirectTo, 'invalid_request', 'The response type is missing.');
  }
  return redirectWithError(redirectTo, 'unsupported_response_type', 'The response type must be code or token.');
}

export function readResponseType(parameters: RequestParameters): 'code' | 'token' | undefined {
  const type = parameters.get('response_type');
  return type === 'code' || type === 'token' ? type : undefined;
}

/** Accepts only the PKCE method S256 (RFC 7636 §4.3), because `plain`, the default method, gives no protection. */
function checkCodeChallenge({ parameters, redirectTo }: RuleInput): Reply | undefined {
  if (readResponseType(parameters) !== 'code') return undefined;
  const challenge = parameters.get('code_challenge');
  const method = parameters.get('code_challenge_method');
  if (challenge === undefined && method === undefined) return undefined;
  if (method !== 'S256')
    return redirectWithError(redirectTo, 'invalid_request', 'The code challenge method must be S256.');
  if (challenge !== undefined && /^[A-Za-z0-9_-]{43}$/.test(challenge)) return undefined;
  return redirectWithError(redirectTo, 'invalid_request', 'The code challenge is not a SHA-256 hash in base64url.');
}

/**
 * The parameter prompt is a list of words, in which `none` excludes all other words. The implicit flow ignores the parameter
 * prompt (docs/service.md S4.7).
 */
function checkPromptParameter({ parameters, redirectTo }: RuleInput): Reply | undefined {
  if (readResponseType(parameters) === 'token' || readPrompt(parameters) !== undefined) return undefined;
  return redirectWithError(
    redirectTo,
    'invalid_request',
    'The prompt must be none or select_account; none cannot be combined.',
  );
}

/** Reads the parameter prompt: `select_account` when it is absent, undefined when it is invalid. */
export function readPrompt(parameters: RequestParameters): 'none' | 'select_account' | undefined {
  const words = new Set((parameters.get('prompt') ?? 'select_account').split(' '));
  if (words.size !== 1) return undefined;
  const [word] = words;
  return word === 'none' || word === 'select_account' ? word : undefined;
}

/** The account hint is used only with prompt=none (docs/service.md S4.12). */
function checkAccountHintParameter({ parameters, redirectTo }: RuleInput): Reply | undefined {
  const hint = parameters.get('i');
  if (hint === undefined || readResponseType(parameters) !== 'code' || readPrompt(parameters) !== 'none')
    return undefined;
  if (/^[0-9a-f]{6}$/i.test(hint)) return undefined;
  return redirectWithError(
    redirectTo,
    'invalid_request',
    'The hint i must be the first 6 characters of an account UUID.',
  );
}

/** The URL to which the authorization response is sent. */
export interface RedirectTarget {
  readonly redirectUri: string;
  /** The state parameter in the encoded form that was sent; absent when the request had none. */
  readonly rawState?: string;
  /** Status 303 after a form, so that the browser uses GET, and 302 after a GET request. */
  readonly status: 302 | 303;
}

/** Adds parameters to the query of the redirect URI and keeps its existing query (RFC 6749 §3.1.2). */
export function redirectWithQuery(target: RedirectTarget, parameters: Readonly<Record<string, string>>): Reply {
  const uri = target.redirectUri;
  const separator = !uri.includes('?') ? '?' : uri.endsWith('?') || uri.endsWith('&') ? '' : '&';
  return redirectReply(target.status, `${uri}${separator}${encodeParameters(target, parameters)}`);
}

/** Adds the parameters to the fragment of the redirect URI, as the implicit flow requires (RFC 6749 §4.2.2). */
export function redirectWithFragment(target: RedirectTarget, parameters: Readonly<Record<string, string>>): Reply {
  return redirectReply(target.status, `${target.redirectUri}#${encodeParameters(target, parameters)}`);
}

export function redirectWithError(target: RedirectTarget, error: string, description: string): Reply {
  return redirectWithQuery(target, { error, error_description: description });
}

/** Appends the state parameter byte for byte as received, so that differences in decoding `+` or `%` have no effect. */
function encodeParameters(target: RedirectTarget, parameters: Readonly<Record<string, string>>): string {
  const query = new URLSearchParams(parameters).toString();
  return target.rawState === undefined ? query : `${query}&state=${asciiQuery(target.rawState)}`;
}
