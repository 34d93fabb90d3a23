import { createHash, randomBytes } from 'node:crypto';
import { Secret } from '../../src/base/secret.ts';
import { check, DifferenceError, type HttpResponse, NotTestableError, summarize, textOf } from './response.ts';
import { firstUser, setConsent } from './sandbox.ts';
import { type Client, once, type Params, type Person, registerSecret, type Server } from './server.ts';

/** The cookies of one simulated browser, by cookie name. */
export type Cookies = Map<string, string>;

/** Where an authorization request ended: at a page of the server, or at a redirect to another address. */
export interface PageOrRedirect {
  readonly response: HttpResponse;
  /** The target of the redirect; undefined for a page. */
  readonly location: string | undefined;
  /** The parameters of the redirect: those of its query, and those of its fragment. */
  readonly query: URLSearchParams;
  readonly fragment: URLSearchParams;
}

const maxRedirects = 5;

/** Sends an authorization request as a browser with these cookies would, and follows redirects within the server. */
export async function requestAuthorization(
  server: Server,
  parameters: Params,
  cookies: Cookies = new Map(),
): Promise<PageOrRedirect> {
  let response = await browse(server, '/v1/oauth/authorize', cookies, parameters);
  for (let count = 0; count < maxRedirects; count += 1) {
    const location = response.header('location');
    const next = location === undefined ? undefined : resolveWithin(server.authUrl, location);
    if (next === undefined || isCallback(server, location)) break;
    response = { ...(await browse(server, next, cookies)), sent: response.sent };
  }
  return endOf(response);
}

function browse(server: Server, path: string, cookies: Cookies, query?: Params): Promise<HttpResponse> {
  return sendWithCookies(server, cookies, { method: 'GET', path, ...(query === undefined ? {} : { query }) });
}

/** Sends one request with the cookies, and keeps the cookie of the response. */
export async function sendWithCookies(
  server: Server,
  cookies: Cookies,
  request: Parameters<Server['request']>[0],
): Promise<HttpResponse> {
  const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const headers = { ...request.headers, ...(cookie === '' ? {} : { cookie }) };
  const response = await server.request({ ...request, headers });
  for (const line of response.cookies) {
    const [, name = '', value = ''] = /^\s*([^=;\s]+)=([^;]*)/.exec(line) ?? [];
    if (name === '') continue;
    cookies.set(name, value);
    server.secrets.add(new Secret(value, '[cookie]'));
  }
  return response;
}

function endOf(response: HttpResponse): PageOrRedirect {
  const location = response.status >= 300 && response.status < 400 ? response.header('location') : undefined;
  const [, query = '', fragment = ''] = /^[^?#]*(?:\?([^#]*))?(?:#(.*))?$/s.exec(location ?? '') ?? [];
  return {
    response,
    location,
    query: new URLSearchParams(query),
    fragment: new URLSearchParams(fragment),
  };
}

/** The path of a redirect to the same origin; undefined for a redirect to another origin. */
function resolveWithin(origin: string, location: string): string | undefined {
  if (!URL.canParse(location, origin)) return undefined;
  const url = new URL(location, origin);
  return url.origin === origin ? `${url.pathname}${url.search}` : undefined;
}

function isCallback({ client }: Server, location: string | undefined): boolean {
  return client !== undefined && location?.startsWith(client.callbackUrl) === true;
}

/** Whether the redirect leads to the callback URL of the client, whatever its parameters are. */
export function leadsToCallback(server: Server, { location }: PageOrRedirect): boolean {
  const callback = server.client?.callbackUrl ?? '';
  if (location === undefined || !location.startsWith(callback)) return false;
  return ['', '?', '&', '#'].includes(location.charAt(callback.length));
}

export interface AuthorizeOptions {
  readonly flow?: 'code' | 'implicit';
  /** The scope to request (default: `read`). If undefined, the request has no `scope` parameter. */
  readonly scope?: string | undefined;
  readonly state?: string | undefined;
  readonly decision?: 'approve' | 'deny';
  /** Only at a sandbox: who authorizes (default: its first user), and for which team. */
  readonly person?: Person;
  readonly team?: string;
  readonly client?: Client;
  readonly more?: Params;
}

/** The redirect with which an authorization ended. */
export interface Redirect {
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
export const exampleChallenge = {
  code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  code_challenge_method: 'S256',
};

/** A value of the `state` parameter with characters that a server may change: reserved, encoded and non-ASCII. */
export const specialState = 'a+b c%2Fd&e=f/ü漢~"\'';

export function requireClient(server: Server): Client {
  if (server.client === undefined) throw new NotTestableError('there is no client ID');
  return server.client;
}

/** The parameters of a valid authorization request; `changes` replaces or removes some of them. */
export function authorizationParams(
  server: Server,
  changes: Params = {},
  client: Client = requireClient(server),
): Params {
  const isCodeFlow = changes.response_type !== 'token';
  return {
    response_type: 'code',
    client_id: client.id,
    redirect_uri: client.callbackUrl,
    ...(server.pkce && isCodeFlow ? exampleChallenge : {}),
    ...changes,
  };
}

/**
 * Lets a person authorize the application: by the consent script of a sandbox, or in a browser. Throws
 * NotTestableError when neither is available, and DifferenceError when the authorization does not end in a
 * redirect to the callback URL.
 */
export async function authorize(server: Server, order: AuthorizeOptions = {}): Promise<Redirect> {
  const { flow = 'code', state, decision = 'approve', client = requireClient(server), more } = order;
  const scope = 'scope' in order ? order.scope : 'read';
  const verifier = server.pkce && flow === 'code' ? createVerifier(server) : undefined;
  const challenge =
    verifier === undefined ? {} : { code_challenge: challengeOf(verifier), code_challenge_method: 'S256' };
  const changes = { response_type: flow === 'code' ? 'code' : 'token', scope, state, ...challenge, ...more };
  const parameters = authorizationParams(server, changes, client);
  if (server.admin === undefined) return authorizeInBrowser(server, parameters, order, verifier);
  const { person = firstUser(server), team } = order;
  await setConsent(
    server,
    decision === 'deny'
      ? { mode: 'deny' }
      : { mode: 'approve', user: person.email, ...(team === undefined ? {} : { team }) },
  );
  const end = await requestAuthorization(server, parameters);
  await setConsent(server, { mode: 'ask' });
  if (!isRedirectTo(server, client, end))
    throw new DifferenceError('a redirect to redirect_uri after the decision of the user', end.response);
  rememberParameters(server, end);
  return { response: end.response, query: end.query, fragment: end.fragment, isFromBrowser: false, verifier };
}

function createVerifier(server: Server): Secret {
  return registerSecret(server, randomBytes(32).toString('base64url'), '[verifier]');
}

/** The challenge of the method S256 (RFC 7636 §4.2). */
function challengeOf(verifier: Secret): string {
  return createHash('sha256').update(verifier.reveal()).digest('base64url');
}

async function authorizeInBrowser(
  server: Server,
  parameters: Params,
  { flow = 'code', decision = 'approve', state = server.unique() }: AuthorizeOptions,
  verifier: Secret | undefined,
): Promise<Redirect> {
  const { visit, authUrl } = server;
  if (visit === undefined) throw new NotTestableError('needs --browser');
  const url = new URL('/v1/oauth/authorize', authUrl);
  for (const [name, value] of Object.entries({ ...parameters, state }))
    if (typeof value === 'string') url.searchParams.set(name, value);
  url.search = url.search.replaceAll('+', '%20');
  const received = await visit({ url: url.href, state, request: decision });
  const values = new URLSearchParams(received);
  const end = { query: flow === 'code' || values.has('error') ? values : new URLSearchParams(), fragment: values };
  rememberParameters(server, end);
  const sent = `GET /v1/oauth/authorize?response_type=${flow === 'code' ? 'code' : 'token'}&… in a browser`;
  const response = { sent, received: `a redirect with ${[...values.keys()].join(', ')}` };
  return { response, ...end, isFromBrowser: true, verifier };
}

function isRedirectTo(server: Server, client: Client, end: PageOrRedirect): boolean {
  return leadsToCallback({ ...server, client }, end);
}

function rememberParameters(server: Server, { query, fragment }: Pick<PageOrRedirect, 'query' | 'fragment'>): void {
  for (const parameters of [query, fragment])
    for (const name of ['code', 'access_token', 'refresh_token']) {
      const value = parameters.get(name);
      if (value !== null) registerSecret(server, value, name === 'code' ? '[code]' : '[token]');
    }
}

/** Authorizes once with the implicit flow. Several statements check the same result. */
export function implicitRedirect(server: Server): Promise<Redirect> {
  const state = server.visit === undefined ? { state: specialState } : {};
  return once(server, 'implicit', () => authorize(server, { flow: 'implicit', ...state }));
}

/** Sends an authorization request that the server must refuse without showing a sign-in or consent page. */
export function sendInvalid(server: Server, changes: Params): Promise<PageOrRedirect> {
  return requestAuthorization(server, authorizationParams(server, changes));
}

/** Sends an authorization request of a browser without a signed-in user. */
export async function sendSignedOut(server: Server, changes: Params = {}): Promise<PageOrRedirect> {
  // The consent script of a sandbox would sign a user in, so the script is switched off.
  if (server.admin !== undefined) await setConsent(server, { mode: 'ask' });
  return requestAuthorization(server, authorizationParams(server, changes));
}

/** Sends an authorization request as a browser in which a user is signed in. The consent script is switched off. */
export async function sendSignedIn(
  server: Server,
  cookies: Map<string, string>,
  changes: Params = {},
): Promise<PageOrRedirect> {
  await setConsent(server, { mode: 'ask' });
  const parameters = authorizationParams(server, { state: server.unique(), ...changes });
  return requestAuthorization(server, parameters, cookies);
}

export function requirePage(end: PageOrRedirect, expected: string): void {
  const { status } = end.response;
  check(end.location === undefined && status >= 200 && status < 300, expected, end.response);
}

/**
 * Throws DifferenceError unless the request ended at a page that reports an error. A sign-in page is not such a
 * page.
 */
export function requireErrorPage({ location, response }: PageOrRedirect, message: RegExp, expected: string): void {
  const isError = (response.status >= 400 && response.status < 500) || message.test(textOf(response));
  check(location === undefined && isError, expected, response);
}

/** Throws unless the server refused the request, with an error page or with a redirect that contains an error. */
export function requireRefusal(server: Server, end: PageOrRedirect): void {
  const expected = 'an error page, or a redirect with an error';
  const { status } = end.response;
  const isPage = end.location === undefined && status >= 400 && status < 500;
  const isError = leadsToCallback(server, end) && (end.query.has('error') || end.fragment.has('error'));
  check(isPage || isError, expected, end.response);
  const granted = ['code', 'access_token'].some((name) => end.query.has(name) || end.fragment.has(name));
  check(!granted, expected, end.response);
}

export function requireErrorRedirect(server: Server, end: PageOrRedirect, code: string): void {
  check(
    leadsToCallback(server, end) && end.query.get('error') === code && !end.query.has('code'),
    `a redirect to redirect_uri with error=${code}`,
    end.response,
  );
}

export function requireCodeRedirect(server: Server, end: PageOrRedirect): void {
  check(leadsToCallback(server, end) && end.query.has('code'), 'a redirect with a code', end.response);
}

export function requireState(authorization: Redirect, parameters: URLSearchParams, state: string): void {
  check(parameters.get('state') === state, 'the same state that was sent', authorization.response);
}

/** Where an authorization request ended: `page 400`, `redirect invalid_request` or `redirect code`. */
export function summarizeEnd(server: Server, end: PageOrRedirect): string {
  if (end.location === undefined) return `page ${summarize(end.response)}`;
  if (!leadsToCallback(server, end)) return 'redirect elsewhere';
  const { query, fragment } = end;
  const names = ['code', 'access_token'].filter((name) => query.has(name) || fragment.has(name));
  const [outcome = query.get('error') ?? fragment.get('error') ?? 'without result'] = names;
  return `redirect ${outcome}`;
}
