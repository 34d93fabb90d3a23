import type { Secret } from '../base/secret.ts';
import { createPkce } from '../oauth/pkce.ts';
import { type AuthorizationPageOrRedirect, leadsToCallback, sendConformanceAuthorizationRequest } from './browse.ts';
import { ConformanceDifferenceError, ConformanceNotTestableError } from './conformance-difference-error.ts';
import { requireFirstSandboxUser, setSandboxConsent } from './sandbox-people.ts';
import {
  type RequestParameterValues,
  registerRedactedSecret,
  type ServerUnderTest,
  type TestedClient,
  type TestedPerson,
} from './server-under-test.ts';

export interface TestedClientAuthorizationOptions {
  readonly flow?: 'code' | 'implicit';
  /** The scope to request (default: `read`). If undefined, the request has no `scope` parameter. */
  readonly scope?: string | undefined;
  readonly state?: string | undefined;
  readonly decision?: 'approve' | 'deny';
  /** Only at a sandbox: who authorizes (default: its first user), and for which team. */
  readonly person?: TestedPerson;
  readonly team?: string;
  readonly client?: TestedClient;
  readonly more?: RequestParameterValues;
}

/** The redirect with which an authorization ended. */
export interface AuthorizationRedirect {
  /** Descriptions of the authorization request and of the redirect, for the report of a difference. */
  readonly response: { readonly sent: string; readonly received: string };
  readonly query: URLSearchParams;
  readonly fragment: URLSearchParams;
  /** Whether a browser received the redirect. Only the parameters of such a redirect are known. */
  readonly isFromBrowser: boolean;
  /** The PKCE verifier, when a challenge was sent. */
  readonly verifier: Secret | undefined;
}

/** The PKCE challenge of RFC 7636, appendix B, for authorization requests whose code is not exchanged. */
export const examplePkceChallenge = {
  code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  code_challenge_method: 'S256',
};

/** A value of the `state` parameter with characters that a server may change: reserved, encoded and non-ASCII. */
export const oauthStateWithSpecialCharacters = 'a+b c%2Fd&e=f/ü漢~"\'';

export function requireTestedClient(server: ServerUnderTest): TestedClient {
  if (server.client === undefined) throw new ConformanceNotTestableError('there is no client ID');
  return server.client;
}

/** The parameters of a valid authorization request; `changes` replaces or removes some of them. */
export function buildTestedClientAuthorizationParameters(
  server: ServerUnderTest,
  changes: RequestParameterValues = {},
  client: TestedClient = requireTestedClient(server),
): RequestParameterValues {
  const isCodeFlow = changes.response_type !== 'token';
  return {
    response_type: 'code',
    client_id: client.id,
    redirect_uri: client.callbackUrl,
    ...(server.pkce && isCodeFlow ? examplePkceChallenge : {}),
    ...changes,
  };
}

/**
 * Lets a person authorize the application: by the consent script of a sandbox, or in a browser. Throws
 * ConformanceNotTestableError when neither is available, and ConformanceDifferenceError when the authorization does not end in a
 * redirect to the callback URL.
 */
export async function authorizeTestedClient(
  server: ServerUnderTest,
  order: TestedClientAuthorizationOptions = {},
): Promise<AuthorizationRedirect> {
  const { flow = 'code', state, decision = 'approve', client = requireTestedClient(server), more } = order;
  const scope = 'scope' in order ? order.scope : 'read';
  const pkce = server.pkce && flow === 'code' ? createPkce(server.random) : undefined;
  if (pkce !== undefined) server.secrets.add(pkce.verifier);
  const challenge = pkce === undefined ? {} : { code_challenge: pkce.challenge, code_challenge_method: 'S256' };
  const verifier = pkce?.verifier;
  const changes = { response_type: flow === 'code' ? 'code' : 'token', scope, state, ...challenge, ...more };
  const parameters = buildTestedClientAuthorizationParameters(server, changes, client);
  if (server.admin === undefined) return authorizeInBrowser(server, parameters, order, verifier);
  const { person = requireFirstSandboxUser(server), team } = order;
  await setSandboxConsent(
    server,
    decision === 'deny'
      ? { mode: 'deny' }
      : { mode: 'approve', user: person.email, ...(team === undefined ? {} : { team }) },
  );
  const end = await sendConformanceAuthorizationRequest(server, parameters);
  await setSandboxConsent(server, { mode: 'ask' });
  if (!isRedirectTo(server, client, end))
    throw new ConformanceDifferenceError('a redirect to redirect_uri after the decision of the user', end.response);
  rememberParameters(server, end);
  return { response: end.response, query: end.query, fragment: end.fragment, isFromBrowser: false, verifier };
}

async function authorizeInBrowser(
  server: ServerUnderTest,
  parameters: RequestParameterValues,
  { flow = 'code', decision = 'approve', state = server.unique() }: TestedClientAuthorizationOptions,
  verifier: Secret | undefined,
): Promise<AuthorizationRedirect> {
  const { visit, authUrl } = server;
  if (visit === undefined) throw new ConformanceNotTestableError('needs --browser');
  const url = new URL('/v1/oauth/authorize', authUrl);
  for (const [name, value] of Object.entries({ ...parameters, state }))
    if (typeof value === 'string') url.searchParams.set(name, value);
  url.search = url.search.replaceAll('+', '%20');
  const received = await visit({ url: url.href, state, flow, request: decision });
  const values = new URLSearchParams(received);
  const end = { query: flow === 'code' || values.has('error') ? values : new URLSearchParams(), fragment: values };
  rememberParameters(server, end);
  const sent = `GET /v1/oauth/authorize?response_type=${flow === 'code' ? 'code' : 'token'}&… in a browser`;
  const response = { sent, received: `a redirect with ${[...values.keys()].join(', ')}` };
  return { response, ...end, isFromBrowser: true, verifier };
}

function isRedirectTo(server: ServerUnderTest, client: TestedClient, end: AuthorizationPageOrRedirect): boolean {
  return leadsToCallback({ ...server, client }, end);
}

function rememberParameters(
  server: ServerUnderTest,
  { query, fragment }: Pick<AuthorizationPageOrRedirect, 'query' | 'fragment'>,
): void {
  for (const parameters of [query, fragment])
    for (const name of ['code', 'access_token', 'refresh_token']) {
      const value = parameters.get(name);
      if (value !== null) registerRedactedSecret(server, value, name === 'code' ? '[code]' : '[token]');
    }
}
