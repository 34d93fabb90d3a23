import { isJsonRecord, type JsonRecord, readStringField } from '../../src/base/json.ts';
import type { Secret } from '../../src/base/secret.ts';
import {
  type AuthorizeOptions,
  authorize,
  type Redirect,
  requireClient,
  sendInvalid,
  specialState,
} from './authorize.ts';
import {
  check,
  DifferenceError,
  errorCodeOf,
  type HttpResponse,
  isSuccess,
  jsonOf,
  NotTestableError,
  textOf,
} from './response.ts';
import { advanceClock, withFrozenClock } from './sandbox.ts';
import { type Client, type HttpRequest, once, type Params, registerSecret, type Server } from './server.ts';

/** Tokens that a test may use up. */
export interface Tokens {
  readonly response: HttpResponse;
  readonly body: JsonRecord;
  readonly accessToken: Secret;
  readonly refreshToken: Secret | undefined;
}

/** An authorization code that was not used yet, with the PKCE verifier of its authorization request. */
export interface UnusedCode {
  readonly code: Secret;
  readonly verifier: Secret | undefined;
  readonly authorization: Redirect;
}

/** Requests an authorization code. Throws DifferenceError when the redirect contains no code. */
export async function requestCode(server: Server, order: AuthorizeOptions = {}): Promise<UnusedCode> {
  const authorization = await authorize(server, order);
  const code = authorization.query.get('code');
  if (code === null) throw new DifferenceError('a redirect with the query parameter code', authorization.response);
  return { code: registerSecret(server, code, '[code]'), verifier: authorization.verifier, authorization };
}

/** The parameters that exchange a code for tokens (docs/service.md S5.2); `changes` replaces or removes some of them. */
export function exchangeParams(
  server: Server,
  { code, verifier }: Pick<UnusedCode, 'code' | 'verifier'>,
  changes: Params = {},
): Params {
  const client = requireClient(server);
  return {
    grant_type: 'authorization_code',
    code,
    client_id: client.id,
    client_secret: client.secret,
    redirect_uri: client.callbackUrl,
    code_verifier: verifier,
    ...changes,
  };
}

/**
 * Sends a request to the token endpoint or the revocation endpoint, with the parameters in the query (docs/service.md S5.1) unless
 * `tokenParams` says otherwise.
 */
export function postOAuth(
  server: Server,
  path: string,
  parameters: Params,
  more: Partial<HttpRequest> = {},
): Promise<HttpResponse> {
  const { tokenParams } = server;
  if (tokenParams === 'query') return server.request({ method: 'POST', path, query: parameters, ...more });
  const { client_id, client_secret, ...rest } = { ...credentialsOf(server.client), ...parameters };
  if (tokenParams === 'body')
    return server.request({ method: 'POST', path, form: { ...rest, client_id, client_secret }, ...more });
  return server.request({
    method: 'POST',
    path,
    form: rest,
    ...more,
    headers: { ...more.headers, authorization: basicHeader(server, client_id, client_secret) },
  });
}

export function postToken(server: Server, parameters: Params): Promise<HttpResponse> {
  return postOAuth(server, '/v1/oauth/token', parameters);
}

/** Reads a token response (docs/service.md S2.5). Throws DifferenceError when the response contains no access token. */
export function requireTokens(server: Server, response: HttpResponse): Tokens {
  const body = jsonOf(response);
  const accessToken = body === undefined ? undefined : readStringField(body, 'access_token');
  const refreshToken = body === undefined ? undefined : readStringField(body, 'refresh_token');
  check(isSuccess(response) && (accessToken ?? '') !== '', 'a grant with an access_token', response);
  return {
    response,
    body: body ?? {},
    accessToken: registerSecret(server, accessToken ?? '', '[access token]'),
    refreshToken: refreshToken === undefined ? undefined : registerSecret(server, refreshToken, '[refresh token]'),
  };
}

/** Obtains a code that another test needs. If the server issues no code, that test is not testable. */
export function freshCode(server: Server, order: AuthorizeOptions = {}): Promise<UnusedCode> {
  return asPrecondition('code', requestCode(server, order));
}

/** Obtains tokens that another test needs. If the server issues no tokens, that test is not testable. */
export function freshTokens(server: Server, order: AuthorizeOptions = {}): Promise<Tokens> {
  return asPrecondition('grant', grantTokens(server, order));
}

async function asPrecondition<T>(name: string, result: Promise<T>): Promise<T> {
  try {
    return await result;
  } catch (error) {
    if (!(error instanceof DifferenceError)) throw error;
    throw new NotTestableError(`needs a ${name}, but expected ${error.expected} and received ${error.received}`);
  }
}

/** Obtains new tokens: by the code flow or, when no user can authorize, with the refresh token that the user gave. */
export async function grantTokens(server: Server, order: AuthorizeOptions = {}): Promise<Tokens> {
  const canAuthorize = server.admin !== undefined || server.visit !== undefined;
  const given = server.chain.refreshToken;
  if (!canAuthorize && given !== undefined && !('scope' in order))
    return requireTokens(server, await sendRefresh(server, given));
  const code = await requestCode(server, { state: server.unique(), ...order });
  const client = order.client ?? requireClient(server);
  const credentials = { client_id: client.id, client_secret: client.secret, redirect_uri: client.callbackUrl };
  return requireTokens(server, await postToken(server, exchangeParams(server, code, credentials)));
}

/** A refresh with its two parameters (docs/service.md S5.7); other servers also need the client credentials. */
export async function sendRefresh(server: Server, refreshToken: Secret | undefined): Promise<HttpResponse> {
  if (refreshToken === undefined) throw new NotTestableError('the grant has no refresh token');
  const response = await postToken(server, { grant_type: 'refresh_token', refresh_token: refreshToken });
  followRefresh(server, refreshToken, response);
  return response;
}

/** A refresh token works once, so the refresh token of the response replaces the one that the user gave. */
export function followRefresh(server: Server, used: Secret | undefined, response: HttpResponse): void {
  const next = readStringField(jsonOf(response) ?? {}, 'refresh_token');
  if (next !== undefined && used !== undefined && server.chain.refreshToken?.reveal() === used.reveal())
    server.chain.refreshToken = registerSecret(server, next, '[refresh token]');
}

export function sendRevocation(server: Server, token: Secret | undefined, bearer?: Secret): Promise<HttpResponse> {
  // Revoking an access token may also revoke its refresh token, so the refresh token given by the user is not used again.
  server.chain.refreshToken = undefined;
  return postOAuth(server, '/v1/oauth/revoke', { token }, { bearer });
}

/** Requests the list of actions, which every scope may read and which always exists. */
export function listActions(server: Server, bearer: Secret): Promise<HttpResponse> {
  return server.request({ origin: 'api', method: 'GET', path: '/v2/actions', query: { per_page: '1' }, bearer });
}

export function infoOf({ body }: Tokens): JsonRecord {
  return isJsonRecord(body.info) ? body.info : {};
}

function credentialsOf(client: Client | undefined): Params {
  return client === undefined ? {} : { client_id: client.id, client_secret: client.secret };
}

type ParameterValue = Params[string];

function basicHeader(server: Server, id: ParameterValue, secret: ParameterValue): string {
  const text = (value: ParameterValue): string => {
    if (value === undefined) return '';
    if (typeof value === 'string') return encodeURIComponent(value);
    return 'reveal' in value ? encodeURIComponent(value.reveal()) : '';
  };
  const pair = registerSecret(server, Buffer.from(`${text(id)}:${text(secret)}`).toString('base64'), '[basic]');
  return `Basic ${pair.reveal()}`;
}

/** An access token with read access: the given token, or a token of a new grant. No test invalidates the token. */
export function readToken(server: Server): Promise<Secret> {
  return once(server, 'read token', async () => server.accessToken ?? (await writeToken(server)));
}

/** An access token with the scope `read write`. */
export function writeToken(server: Server): Promise<Secret> {
  return once(server, 'write token', async () => {
    if (!server.allowWrites) throw new NotTestableError('needs --allow-writes');
    if (server.admin === undefined && server.accessToken !== undefined) return server.accessToken;
    return (await freshTokens(server, { scope: 'read write' })).accessToken;
  });
}

/** An access token with the scope `read` only. */
export function readOnlyToken(server: Server): Promise<Secret> {
  return once(server, 'read-only token', async () => (await freshTokens(server)).accessToken);
}

/**
 * Several statements check the same tokens, so that a person authorizes only a few times. A second use of a code or of a
 * refresh token makes some servers revoke every token, so these requests are sent last.
 */

/** Obtains an authorization code for the scope `read write`; the `state` parameter contains special characters. */
export function sharedCode(server: Server): Promise<UnusedCode> {
  return once(server, 'issued code', () =>
    requestCode(server, {
      scope: 'read write',
      ...(server.visit === undefined ? { state: specialState } : {}),
    }),
  );
}

/** The tokens for the authorization code of `sharedCode`, or for the refresh token that the user gave. */
export function sharedTokens(server: Server): Promise<Tokens> {
  return once(server, 'issued grant', async () => {
    if (server.admin === undefined && server.visit === undefined) return grantTokens(server);
    const code = await sharedCode(server);
    return requireTokens(server, await postToken(server, exchangeParams(server, code)));
  });
}

/** The list of actions, requested with the access token of the test login. */
export function sharedActions(server: Server): Promise<HttpResponse> {
  return once(server, 'actions', async () => listActions(server, (await sharedTokens(server)).accessToken));
}

/** The response to the first refresh of the test login. */
export function firstRefresh(server: Server): Promise<HttpResponse> {
  return once(server, 'first refresh', async () => {
    await sharedActions(server);
    return sendRefresh(server, (await sharedTokens(server)).refreshToken);
  });
}

export function refreshedTokens(server: Server): Promise<Tokens> {
  return once(server, 'refreshed grant', async () => requireTokens(server, await firstRefresh(server)));
}

/** Sends one request with the old access token and one with the new access token, both after the refresh. */
export function useAfterRefresh(
  server: Server,
): Promise<{ readonly before: HttpResponse; readonly after: HttpResponse }> {
  return once(server, 'access after refresh', async () => {
    const renewed = await refreshedTokens(server);
    return {
      before: await listActions(server, (await sharedTokens(server)).accessToken),
      after: await listActions(server, renewed.accessToken),
    };
  });
}

/** Revokes the newest access token without an Authorization header, then uses the access token and the refresh token. */
export function revokeAndReuse(server: Server): Promise<{
  readonly response: HttpResponse;
  readonly use: HttpResponse;
  readonly refresh: HttpResponse;
}> {
  return once(server, 'revocation', async () => {
    const grant = await newestGrant(server);
    const before = await listActions(server, grant.accessToken);
    if (!isSuccess(before))
      throw new NotTestableError(`the token is refused before the revocation: ${before.received}`);
    const response = await sendRevocation(server, grant.accessToken);
    const use = await listActions(server, grant.accessToken);
    return { response, use, refresh: await sendRefresh(server, grant.refreshToken) };
  });
}

/**
 * The tokens after a refresh, or the first tokens if the server cannot refresh. Given a refresh token, its newest successor.
 */
async function newestGrant(server: Server): Promise<Tokens> {
  if (server.admin === undefined && server.visit === undefined) return freshTokens(server);
  return useAfterRefresh(server).then(
    () => refreshedTokens(server),
    () => sharedTokens(server),
  );
}

/** Exchanges the same code twice, then sends a request with the access token of the first exchange. */
export function replayCode(server: Server): Promise<{ readonly response: HttpResponse; readonly use: HttpResponse }> {
  return once(server, 'code replay', async () => {
    const code = await freshCode(server, { state: server.unique() });
    const grant = requireTokens(server, await postToken(server, exchangeParams(server, code)));
    const response = await postToken(server, exchangeParams(server, code));
    return { response, use: await listActions(server, grant.accessToken) };
  });
}

/** Sends ten refreshes with the same refresh token in parallel, and one more when all have ended. */
export function replayRefresh(
  server: Server,
): Promise<{ readonly parallel: readonly HttpResponse[]; readonly late: HttpResponse }> {
  return once(server, 'refresh replay', async () => {
    const { refreshToken } = await freshTokens(server);
    const parallel = await Promise.all(Array.from({ length: 10 }, () => sendRefresh(server, refreshToken)));
    return { parallel, late: await sendRefresh(server, refreshToken) };
  });
}

/** Sends a code with another redirect_uri, then the same code with the right one; returns both responses. */
export function exchangeWrongRedirect(
  server: Server,
): Promise<{ readonly wrong: HttpResponse; readonly right: HttpResponse }> {
  return once(server, 'mismatched exchange', async () => {
    const code = await freshCode(server, { state: server.unique() });
    const other = `${server.client?.callbackUrl}/other`;
    const wrong = await postToken(server, exchangeParams(server, code, { redirect_uri: other }));
    return { wrong, right: await postToken(server, exchangeParams(server, code)) };
  });
}

export const exchangeNames = ['grant_type', 'code', 'client_id', 'client_secret', 'redirect_uri'] as const;

/** Credentials that are wrong, unknown or missing. */
export const wrongCredentials: readonly Params[] = [
  { client_secret: 'a-wrong-client-secret' },
  { client_id: 'an-unknown-client-id' },
  { client_secret: undefined },
  { client_id: undefined, client_secret: undefined },
];

/** Sends an exchange with a code that no server issued, so the request cannot produce a token. */
export function exchangeMadeUpCode(server: Server, changes: Params = {}): Promise<HttpResponse> {
  return postToken(server, madeUpExchange(server, changes));
}

/** The parameters of an exchange with a code that no server issued. */
export function madeUpExchange(server: Server, changes: Params = {}): Params {
  const code = { code: madeUpSecret(server, '[code]'), verifier: undefined };
  return exchangeParams(server, code, changes);
}

export function madeUpSecret(server: Server, shown: string): Secret {
  return registerSecret(server, `madeup${server.unique()}${server.unique()}`, shown);
}

/** Advances the virtual clock between the issue of a code and its exchange. */
export function exchangeLater(server: Server, step: string): Promise<HttpResponse> {
  return withFrozenClock(server, async () => {
    const code = await freshCode(server);
    await advanceClock(server, step);
    return postToken(server, exchangeParams(server, code));
  });
}

/** Throws DifferenceError unless the response is an error with any code. */
export function requireTokenError(response: HttpResponse): void {
  const error = readStringField(jsonOf(response) ?? {}, 'error') ?? '';
  check(!isSuccess(response) && error !== '', 'a JSON body with an error', response);
}

/**
 * Why a named client cannot be used; undefined when the server knows it. A wrong client ID or secret would otherwise be reported
 * as differences of the server. Neither request can produce a token.
 */
export async function findUnknownClient(server: Server): Promise<string | undefined> {
  const { client } = server;
  if (client === undefined) return undefined;
  const { response, location } = await sendInvalid(server, { scope: 'no-such-scope' });
  const text = textOf(response);
  if (location === undefined && response.status >= 400 && /client/i.test(text) && !/scope/i.test(text))
    return `the server does not know the client ${client.id}`;
  if (client.secret === undefined) return undefined;
  for (const tokenParams of ['query', 'body', 'basic'] as const) {
    const exchange = await exchangeMadeUpCode({ ...server, tokenParams });
    if (errorCodeOf(exchange) !== 'invalid_client') return undefined;
  }
  return `the server answers invalid_client to the client ${client.id}`;
}
