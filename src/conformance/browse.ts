import { Secret } from '../base/secret.ts';
import type { ConformanceResponse } from './conformance-response.ts';
import type { RequestParameterValues, ServerUnderTest } from './server-under-test.ts';

/** The cookies of one simulated browser, by cookie name. */
export type CookieJar = Map<string, string>;

/** Where an authorization request ended: at a page of the server, or at a redirect to another address. */
export interface AuthorizationPageOrRedirect {
  readonly response: ConformanceResponse;
  /** The target of the redirect; undefined for a page. */
  readonly location: string | undefined;
  /** The parameters of the redirect: those of its query, and those of its fragment. */
  readonly query: URLSearchParams;
  readonly fragment: URLSearchParams;
}

const maxRedirects = 5;

/** Sends an authorization request as a browser with these cookies would, and follows redirects within the server. */
export async function sendConformanceAuthorizationRequest(
  server: ServerUnderTest,
  parameters: RequestParameterValues,
  cookies: CookieJar = new Map(),
): Promise<AuthorizationPageOrRedirect> {
  let response = await browse(server, '/v1/oauth/authorize', cookies, parameters);
  for (let count = 0; count < maxRedirects; count += 1) {
    const location = response.header('location');
    const next = location === undefined ? undefined : resolveWithin(server.authUrl, location);
    if (next === undefined || isCallback(server, location)) break;
    response = { ...(await browse(server, next, cookies)), sent: response.sent };
  }
  return endOf(response);
}

function browse(
  server: ServerUnderTest,
  path: string,
  cookies: CookieJar,
  query?: RequestParameterValues,
): Promise<ConformanceResponse> {
  return sendWithCookies(server, cookies, { method: 'GET', path, ...(query === undefined ? {} : { query }) });
}

/** Sends one request with the cookies, and keeps the cookie of the response. */
export async function sendWithCookies(
  server: ServerUnderTest,
  cookies: CookieJar,
  request: Parameters<ServerUnderTest['request']>[0],
): Promise<ConformanceResponse> {
  const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const headers = { ...request.headers, ...(cookie === '' ? {} : { cookie }) };
  const response = await server.request({ ...request, headers });
  // Several cookies arrive as one text; a comma inside a date of `expires` is followed by a space.
  for (const line of (response.header('set-cookie') ?? '').split(/,(?=[^ ;]+=| [^ ;=]+=[^;]*;)/)) {
    const [, name = '', value = ''] = /^\s*([^=;\s]+)=([^;]*)/.exec(line) ?? [];
    if (name === '') continue;
    cookies.set(name, value);
    server.secrets.add(new Secret(value, '[cookie]'));
  }
  return response;
}

function endOf(response: ConformanceResponse): AuthorizationPageOrRedirect {
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

function isCallback({ client }: ServerUnderTest, location: string | undefined): boolean {
  return client !== undefined && location?.startsWith(client.callbackUrl) === true;
}

/** Whether the redirect leads to the callback URL of the client, whatever its parameters are. */
export function leadsToCallback(server: ServerUnderTest, { location }: AuthorizationPageOrRedirect): boolean {
  const callback = server.client?.callbackUrl ?? '';
  if (location === undefined || !location.startsWith(callback)) return false;
  return ['', '?', '&', '#'].includes(location.charAt(callback.length));
}
