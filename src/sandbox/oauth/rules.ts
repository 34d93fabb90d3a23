import type { SandboxHandlerContext } from '../handler-context.ts';
import { redirectReply, type SandboxHttpReply } from '../http/reply.ts';
import {
  type RequestParameters,
  readRawQueryParameter,
  readRequestParameters,
  type SandboxHttpRequest,
  toAsciiUrlQuery,
} from '../http/request.ts';
import type { LiveSandboxState } from '../live-sandbox-state.ts';
import { renderErrorPage } from '../panel/panel-page.ts';
import type { RegisteredApplication, SandboxOAuthScope } from '../records.ts';

/** A request whose client and redirect URI are valid, so that errors may be sent to the redirect URI. */
export interface AuthorizationRequestRuleInput {
  readonly parameters: RequestParameters;
  readonly application: RegisteredApplication;
  readonly redirectTo: RedirectTarget;
}

/**
 * Checks one property of an authorization request. If the rule returns a reply, the request is rejected with it; undefined
 * continues with the next rule.
 */
export type AuthorizationRequestRule = (input: AuthorizationRequestRuleInput) => SandboxHttpReply | undefined;

/** A validated authorization request (RFC 6749 §4.1.1). */
export interface SandboxAuthorizationRequest {
  readonly application: RegisteredApplication;
  readonly redirectTo: RedirectTarget;
  readonly responseType: 'code' | 'token';
  readonly scope: SandboxOAuthScope;
  readonly prompt: 'none' | 'select_account';
  /** The first six characters of the expected account's UUID. */
  readonly hint?: string;
  readonly challenge?: string;
}

const RULES: readonly AuthorizationRequestRule[] = [
  checkRepeatedParameters,
  checkScopeParameter,
  checkResponseType,
  checkCodeChallenge,
  checkPromptParameter,
  checkAccountHintParameter,
];

/** Applies the validation rules in order; the first rule that fails creates the reply (RFC 6749 §4.1.2.1). */
export function validateAuthorizationRequest(
  request: SandboxHttpRequest,
  service: SandboxHandlerContext,
  status: 302 | 303,
): SandboxAuthorizationRequest | SandboxHttpReply {
  const parameters = readRequestParameters(request.query, '', '');
  const application = validateAuthorizationRequestClient(parameters, service.world);
  if ('status' in application) return application;
  const redirectUri = checkRedirectUri(parameters, application);
  if (typeof redirectUri !== 'string') return redirectUri;

  const rawState = parameters.isRepeated('state') ? undefined : readRawQueryParameter(request.query, 'state');
  const redirectTo: RedirectTarget = { redirectUri, status, ...(rawState === undefined ? {} : { rawState }) };
  for (const rule of RULES) {
    const reply = rule({ parameters, application, redirectTo });
    if (reply !== undefined) return reply;
  }
  const responseType = readSupportedResponseTypeParameter(parameters) ?? 'code';
  const hint = parameters.get('i');
  const challenge = parameters.get('code_challenge');
  return {
    application,
    redirectTo,
    responseType,
    scope: readRequestedSandboxScope(parameters) ?? 'read',
    prompt: responseType === 'token' ? 'select_account' : (readPromptParameter(parameters) ?? 'select_account'),
    ...(hint === undefined ? {} : { hint }),
    ...(challenge === undefined || responseType === 'token' ? {} : { challenge }),
  };
}

/** The error is shown as a page, because without a known client there is no valid redirect URI (RFC 6749 §4.1.2.1). */
export function validateAuthorizationRequestClient(
  parameters: RequestParameters,
  world: LiveSandboxState,
): RegisteredApplication | SandboxHttpReply {
  const clientId = parameters.get('client_id');
  if (parameters.isRepeated('client_id')) return renderErrorPage(400, 'The client id is included more than once.');
  if (clientId === undefined) return renderErrorPage(400, 'The client id is missing.');
  return (
    world.registry.application(clientId) ??
    renderErrorPage(400, 'The client id included is not valid.', [['Received', clientId]])
  );
}

/** Compares redirect URIs as strings, byte for byte (RFC 9700 §4.1.3), and never redirects to an unregistered URI. */
export function checkRedirectUri(
  parameters: RequestParameters,
  application: RegisteredApplication,
): string | SandboxHttpReply {
  const received = parameters.get('redirect_uri');
  if (!parameters.isRepeated('redirect_uri') && received !== undefined && application.callbackUrls.includes(received)) {
    return received;
  }
  return renderErrorPage(400, 'The redirect uri included is not valid.', [
    ['Received', parameters.isRepeated('redirect_uri') ? '(more than one)' : (received ?? '(none)')],
    ...application.callbackUrls.map((url) => ['Registered', url] as const),
  ]);
}

/** A known parameter must not be repeated (RFC 6749 §3.1). Unknown parameters may be repeated, because they are ignored. */
function checkRepeatedParameters({
  parameters,
  redirectTo,
}: AuthorizationRequestRuleInput): SandboxHttpReply | undefined {
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
function checkScopeParameter({ parameters }: AuthorizationRequestRuleInput): SandboxHttpReply | undefined {
  if (readRequestedSandboxScope(parameters) !== undefined) return undefined;
  const received: readonly [string, string] = ['Received', parameters.get('scope') ?? ''];
  return renderErrorPage(400, 'The requested scope is invalid, unknown, or malformed.', [
    received,
    ['Valid', 'read'],
    ['Valid', 'read write'],
  ]);
}

export function readRequestedSandboxScope(parameters: RequestParameters): SandboxOAuthScope | undefined {
  return parseSandboxOAuthScope(parameters.get('scope') ?? '');
}

/**
 * Accepts the words `read` and `write` in either order, separated by one space. An empty scope means `read`; the result is
 * undefined for any other text.
 */
export function parseSandboxOAuthScope(text: string): SandboxOAuthScope | undefined {
  return SCOPES.get(text);
}

const SCOPES: ReadonlyMap<string, SandboxOAuthScope> = new Map([
  ['', 'read'],
  ['read', 'read'],
  ['read write', 'read write'],
  ['write read', 'read write'],
]);

/** A missing response type and an unknown response type have different error codes (RFC 6749 §4.1.2.1). */
function checkResponseType({ parameters, redirectTo }: AuthorizationRequestRuleInput): SandboxHttpReply | undefined {
  if (readSupportedResponseTypeParameter(parameters) !== undefined) return undefined;
  if (parameters.get('response_type') === undefined) {
    return redirectWithError(redirectTo, 'invalid_request', 'The response type is missing.');
  }
  return redirectWithError(redirectTo, 'unsupported_response_type', 'The response type must be code or token.');
}

export function readSupportedResponseTypeParameter(parameters: RequestParameters): 'code' | 'token' | undefined {
  const type = parameters.get('response_type');
  return type === 'code' || type === 'token' ? type : undefined;
}

/** Accepts only the PKCE method S256 (RFC 7636 §4.3), because `plain`, the default method, gives no protection. */
function checkCodeChallenge({ parameters, redirectTo }: AuthorizationRequestRuleInput): SandboxHttpReply | undefined {
  if (readSupportedResponseTypeParameter(parameters) !== 'code') return undefined;
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
function checkPromptParameter({ parameters, redirectTo }: AuthorizationRequestRuleInput): SandboxHttpReply | undefined {
  if (readSupportedResponseTypeParameter(parameters) === 'token' || readPromptParameter(parameters) !== undefined)
    return undefined;
  return redirectWithError(
    redirectTo,
    'invalid_request',
    'The prompt must be none or select_account; none cannot be combined.',
  );
}

/** Reads the parameter prompt: `select_account` when it is absent, undefined when it is invalid. */
export function readPromptParameter(parameters: RequestParameters): 'none' | 'select_account' | undefined {
  const words = new Set((parameters.get('prompt') ?? 'select_account').split(' '));
  if (words.size !== 1) return undefined;
  const [word] = words;
  return word === 'none' || word === 'select_account' ? word : undefined;
}

/** The account hint is used only with prompt=none (docs/service.md S4.12). */
function checkAccountHintParameter({
  parameters,
  redirectTo,
}: AuthorizationRequestRuleInput): SandboxHttpReply | undefined {
  const hint = parameters.get('i');
  if (
    hint === undefined ||
    readSupportedResponseTypeParameter(parameters) !== 'code' ||
    readPromptParameter(parameters) !== 'none'
  )
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
export function redirectWithQuery(
  target: RedirectTarget,
  parameters: Readonly<Record<string, string>>,
): SandboxHttpReply {
  const uri = target.redirectUri;
  const separator = !uri.includes('?') ? '?' : uri.endsWith('?') || uri.endsWith('&') ? '' : '&';
  return redirectReply(target.status, `${uri}${separator}${encodeParameters(target, parameters)}`);
}

/** Adds the parameters to the fragment of the redirect URI, as the implicit flow requires (RFC 6749 §4.2.2). */
export function redirectWithFragment(
  target: RedirectTarget,
  parameters: Readonly<Record<string, string>>,
): SandboxHttpReply {
  return redirectReply(target.status, `${target.redirectUri}#${encodeParameters(target, parameters)}`);
}

export function redirectWithError(target: RedirectTarget, error: string, description: string): SandboxHttpReply {
  return redirectWithQuery(target, { error, error_description: description });
}

/** Appends the state parameter byte for byte as received, so that differences in decoding `+` or `%` have no effect. */
function encodeParameters(target: RedirectTarget, parameters: Readonly<Record<string, string>>): string {
  const query = new URLSearchParams(parameters).toString();
  return target.rawState === undefined ? query : `${query}&state=${toAsciiUrlQuery(target.rawState)}`;
}
