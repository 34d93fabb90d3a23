import {
  type AuthorizationRedirect,
  authorizeTestedClient,
  buildTestedClientAuthorizationParameters,
  oauthStateWithSpecialCharacters,
} from './authorize-tested-client.ts';
import { type AuthorizationPageOrRedirect, leadsToCallback, sendConformanceAuthorizationRequest } from './browse.ts';
import { extractResponsePlainText, requireResponseCondition } from './conformance-response.ts';
import { setSandboxConsent } from './sandbox-people.ts';
import { computeOncePerServer, type RequestParameterValues, type ServerUnderTest } from './server-under-test.ts';

/** Authorizes once with the implicit flow. Several statements check the same result. */
export function authorizeByImplicitFlowOncePerServer(server: ServerUnderTest): Promise<AuthorizationRedirect> {
  const state = server.visit === undefined ? { state: oauthStateWithSpecialCharacters } : {};
  return computeOncePerServer(server, 'implicit', () => authorizeTestedClient(server, { flow: 'implicit', ...state }));
}

/** Sends an authorization request that the server must refuse without showing a sign-in or consent page. */
export function sendInvalidAuthorizationRequest(
  server: ServerUnderTest,
  changes: RequestParameterValues,
): Promise<AuthorizationPageOrRedirect> {
  return sendConformanceAuthorizationRequest(server, buildTestedClientAuthorizationParameters(server, changes));
}

/** Sends an authorization request of a browser without a signed-in user. */
export async function sendSignedOutAuthorizationRequest(
  server: ServerUnderTest,
  changes: RequestParameterValues = {},
): Promise<AuthorizationPageOrRedirect> {
  // The consent script of a sandbox would sign a user in, so the script is switched off.
  if (server.admin !== undefined) await setSandboxConsent(server, { mode: 'ask' });
  return sendConformanceAuthorizationRequest(server, buildTestedClientAuthorizationParameters(server, changes));
}

/** Sends an authorization request as a browser in which a user is signed in. The consent script is switched off. */
export async function sendSignedInAuthorizationRequest(
  server: ServerUnderTest,
  cookies: Map<string, string>,
  changes: RequestParameterValues = {},
): Promise<AuthorizationPageOrRedirect> {
  await setSandboxConsent(server, { mode: 'ask' });
  const parameters = buildTestedClientAuthorizationParameters(server, { state: server.unique(), ...changes });
  return sendConformanceAuthorizationRequest(server, parameters, cookies);
}

export function requirePageInsteadOfRedirect(end: AuthorizationPageOrRedirect, expected: string): void {
  const { status } = end.response;
  requireResponseCondition(end.location === undefined && status >= 200 && status < 300, expected, end.response);
}

/**
 * Throws ConformanceDifferenceError unless the request ended at a page that reports an error. A sign-in page is not such a
 * page.
 */
export function requireErrorPage(
  { location, response }: AuthorizationPageOrRedirect,
  message: RegExp,
  expected: string,
): void {
  const isError = (response.status >= 400 && response.status < 500) || message.test(extractResponsePlainText(response));
  requireResponseCondition(location === undefined && isError, expected, response);
}

/** Throws unless the server refused the request, with an error page or with a redirect that contains an error. */
export function requireRefusal(server: ServerUnderTest, end: AuthorizationPageOrRedirect): void {
  const expected = 'an error page, or a redirect with an error';
  const { status } = end.response;
  const isPage = end.location === undefined && status >= 400 && status < 500;
  const isError = leadsToCallback(server, end) && (end.query.has('error') || end.fragment.has('error'));
  requireResponseCondition(isPage || isError, expected, end.response);
  const granted = ['code', 'access_token'].some((name) => end.query.has(name) || end.fragment.has(name));
  requireResponseCondition(!granted, expected, end.response);
}

export function requireRedirectHasError(server: ServerUnderTest, end: AuthorizationPageOrRedirect, code: string): void {
  requireResponseCondition(
    leadsToCallback(server, end) && end.query.get('error') === code && !end.query.has('code'),
    `a redirect to redirect_uri with error=${code}`,
    end.response,
  );
}

export function requireRedirectHasAuthorizationCode(server: ServerUnderTest, end: AuthorizationPageOrRedirect): void {
  requireResponseCondition(
    leadsToCallback(server, end) && end.query.has('code'),
    'a redirect with a code',
    end.response,
  );
}

export function requireReturnedOAuthState(
  authorization: AuthorizationRedirect,
  parameters: URLSearchParams,
  state: string,
): void {
  requireResponseCondition(parameters.get('state') === state, 'the same state that was sent', authorization.response);
}
