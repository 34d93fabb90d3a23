import { type Authorization, authorizationParameters, authorize, difficultState } from './authorize.ts';
import { type AuthorizationEnd, leadsToCallback, sendAuthorizationRequest } from './browse.ts';
import { ConformanceDifference } from './conformance-difference.ts';
import { readPageText, requireOfResponse } from './conformance-response.ts';
import { setSandboxConsent } from './sandbox-people.ts';
import { type RequestParameterValues, type ServerUnderTest, shareResult } from './server-under-test.ts';

/** The authorization of the implicit flow that several statements observe. */
export function implicitAuthorization(server: ServerUnderTest): Promise<Authorization> {
  const state = server.visit === undefined ? { state: difficultState } : {};
  return shareResult(server, 'implicit', () => authorize(server, { flow: 'implicit', ...state }));
}

/** Sends an authorization request that must be refused before a user is involved. */
export function sendRefusable(server: ServerUnderTest, changes: RequestParameterValues): Promise<AuthorizationEnd> {
  return sendAuthorizationRequest(server, authorizationParameters(server, changes));
}

/** Sends an authorization request of a browser without a signed-in user. */
export async function sendWithoutSession(
  server: ServerUnderTest,
  changes: RequestParameterValues = {},
): Promise<AuthorizationEnd> {
  // The consent script of a sandbox would sign a user in.
  if (server.admin !== undefined) await setSandboxConsent(server, { mode: 'ask' });
  return sendAuthorizationRequest(server, authorizationParameters(server, changes));
}

/** Sends an authorization request of a browser in which a user is signed in, and who is not asked by a script. */
export async function sendWithSession(
  server: ServerUnderTest,
  cookies: Map<string, string>,
  changes: RequestParameterValues = {},
): Promise<AuthorizationEnd> {
  await setSandboxConsent(server, { mode: 'ask' });
  const parameters = authorizationParameters(server, { state: server.unique(), ...changes });
  return sendAuthorizationRequest(server, parameters, cookies);
}

export function requirePage(end: AuthorizationEnd, expected: string): void {
  const { status } = end.response;
  requireOfResponse(end.location === undefined && status >= 200 && status < 300, expected, end.response);
}

/** Throws ConformanceDifference unless the request ended at a page that reports an error; a sign-in page does not. */
export function requireErrorPage({ location, response }: AuthorizationEnd, message: RegExp, expected: string): void {
  const isError = (response.status >= 400 && response.status < 500) || message.test(readPageText(response));
  requireOfResponse(location === undefined && isError, expected, response);
}

/** The request is refused on a page or by a redirect with an error, and never granted. */
export function requireRefusal(server: ServerUnderTest, end: AuthorizationEnd): void {
  const expected = 'an error page, or a redirect with an error';
  const { status } = end.response;
  const isPage = end.location === undefined && status >= 400 && status < 500;
  const isError = leadsToCallback(server, end) && (end.query.has('error') || end.fragment.has('error'));
  requireOfResponse(isPage || isError, expected, end.response);
  const granted = ['code', 'access_token'].some((name) => end.query.has(name) || end.fragment.has(name));
  requireOfResponse(!granted, expected, end.response);
}

export function requireRedirectError(server: ServerUnderTest, end: AuthorizationEnd, code: string): void {
  requireOfResponse(
    leadsToCallback(server, end) && end.query.get('error') === code && !end.query.has('code'),
    `a redirect to redirect_uri with error=${code}`,
    end.response,
  );
}

export function requireCode(server: ServerUnderTest, end: AuthorizationEnd): void {
  requireOfResponse(leadsToCallback(server, end) && end.query.has('code'), 'a redirect with a code', end.response);
}

export function requireState(authorization: Authorization, parameters: URLSearchParams, state: string): void {
  requireOfAuthorization(parameters.get('state') === state, 'the same state that was sent', authorization);
}

export function requireOfAuthorization(condition: boolean, expected: string, { response }: Authorization): void {
  if (!condition) throw new ConformanceDifference(expected, response);
}
