import type { JsonRecord } from '../json.ts';
import { isJsonRecord, readStringField } from '../json.ts';
import type { Secret } from '../secret.ts';
import {
  type Authorization,
  authorizeTestedClient,
  requireTestedClient,
  type TestAuthorizationOptions,
} from './authorize-tested-client.ts';
import { ConformanceDifferenceError, ConformanceNotTestableError } from './conformance-difference-error.ts';
import {
  type ConformanceResponse,
  isSuccessfulResponse,
  readJsonBody,
  requireResponseCondition,
} from './conformance-response.ts';
import {
  type ConformanceRequest,
  type RequestParameterValues,
  rememberSecret,
  type ServerUnderTest,
  type TestedClient,
} from './server-under-test.ts';

/** Tokens that a play may use up. */
export interface TestOAuthGrant {
  readonly response: ConformanceResponse;
  readonly body: JsonRecord;
  readonly accessToken: Secret;
  readonly refreshToken: Secret | undefined;
}

/** An authorization code that was not used yet, with the verifier of its request. */
export interface UnusedAuthorizationCode {
  readonly code: Secret;
  readonly verifier: Secret | undefined;
  readonly authorization: Authorization;
}

/** Requests a code. Throws ConformanceDifferenceError when the redirect has none. */
export async function tryRequestAuthorizationCode(
  server: ServerUnderTest,
  order: TestAuthorizationOptions = {},
): Promise<UnusedAuthorizationCode> {
  const authorization = await authorizeTestedClient(server, order);
  const code = authorization.query.get('code');
  if (code === null)
    throw new ConformanceDifferenceError('a redirect with the query parameter code', authorization.response);
  return { code: rememberSecret(server, code, '[code]'), verifier: authorization.verifier, authorization };
}

/** The parameters of a code exchange (spec §4.2), with the changes. */
export function buildCodeExchangeParameters(
  server: ServerUnderTest,
  { code, verifier }: Pick<UnusedAuthorizationCode, 'code' | 'verifier'>,
  changes: RequestParameterValues = {},
): RequestParameterValues {
  const client = requireTestedClient(server);
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
 * Sends a request to the token endpoint or the revocation endpoint, with the parameters in the query (spec §4.2) unless the
 * profile of the server says otherwise.
 */
export function sendTokenOrRevocationRequest(
  server: ServerUnderTest,
  path: string,
  parameters: RequestParameterValues,
  more: Partial<ConformanceRequest> = {},
): Promise<ConformanceResponse> {
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

export function postTokenRequest(
  server: ServerUnderTest,
  parameters: RequestParameterValues,
): Promise<ConformanceResponse> {
  return sendTokenOrRevocationRequest(server, '/v1/oauth/token', parameters);
}

/** Reads a grant (spec §2); throws ConformanceDifferenceError when the response is none. */
export function readGrantedTokens(server: ServerUnderTest, response: ConformanceResponse): TestOAuthGrant {
  const body = readJsonBody(response);
  const accessToken = body === undefined ? undefined : readStringField(body, 'access_token');
  const refreshToken = body === undefined ? undefined : readStringField(body, 'refresh_token');
  requireResponseCondition(
    isSuccessfulResponse(response) && (accessToken ?? '') !== '',
    'a grant with an access_token',
    response,
  );
  return {
    response,
    body: body ?? {},
    accessToken: rememberSecret(server, accessToken ?? '', '[access token]'),
    refreshToken: refreshToken === undefined ? undefined : rememberSecret(server, refreshToken, '[refresh token]'),
  };
}

/** A code for a statement about something else: without one, that statement is not testable. */
export function requestAuthorizationCode(
  server: ServerUnderTest,
  order: TestAuthorizationOptions = {},
): Promise<UnusedAuthorizationCode> {
  return asPrecondition('code', tryRequestAuthorizationCode(server, order));
}

/** A grant for a statement about something else: without one, that statement is not testable. */
export function obtainGrantedTokens(
  server: ServerUnderTest,
  order: TestAuthorizationOptions = {},
): Promise<TestOAuthGrant> {
  return asPrecondition('grant', tryObtainGrantedTokens(server, order));
}

async function asPrecondition<T>(name: string, result: Promise<T>): Promise<T> {
  try {
    return await result;
  } catch (error) {
    if (!(error instanceof ConformanceDifferenceError)) throw error;
    throw new ConformanceNotTestableError(
      `needs a ${name}, but expected ${error.expected} and received ${error.received}`,
    );
  }
}

/** A new grant: by the code flow, or by a refresh of the given refresh token when no user can authorize. */
export async function tryObtainGrantedTokens(
  server: ServerUnderTest,
  order: TestAuthorizationOptions = {},
): Promise<TestOAuthGrant> {
  const canAuthorize = server.admin !== undefined || server.visit !== undefined;
  const given = server.chain.refreshToken;
  if (!canAuthorize && given !== undefined && !('scope' in order))
    return readGrantedTokens(server, await sendRefresh(server, given));
  const code = await tryRequestAuthorizationCode(server, { state: server.unique(), ...order });
  const client = order.client ?? requireTestedClient(server);
  const credentials = { client_id: client.id, client_secret: client.secret, redirect_uri: client.callbackUrl };
  return readGrantedTokens(
    server,
    await postTokenRequest(server, buildCodeExchangeParameters(server, code, credentials)),
  );
}

/** A refresh with the two parameters of the specification (§4.3); other servers also need the client credentials. */
export async function sendRefresh(
  server: ServerUnderTest,
  refreshToken: Secret | undefined,
): Promise<ConformanceResponse> {
  if (refreshToken === undefined) throw new ConformanceNotTestableError('the grant has no refresh token');
  const response = await postTokenRequest(server, { grant_type: 'refresh_token', refresh_token: refreshToken });
  keepSuccessorRefreshToken(server, refreshToken, response);
  return response;
}

/** The given refresh token is single-use, so the next grant is requested with its successor. */
export function keepSuccessorRefreshToken(
  server: ServerUnderTest,
  used: Secret | undefined,
  response: ConformanceResponse,
): void {
  const next = readStringField(readJsonBody(response) ?? {}, 'refresh_token');
  if (next !== undefined && used !== undefined && server.chain.refreshToken?.reveal() === used.reveal())
    server.chain.refreshToken = rememberSecret(server, next, '[refresh token]');
}

export function sendRevocation(
  server: ServerUnderTest,
  token: Secret | undefined,
  bearer?: Secret,
): Promise<ConformanceResponse> {
  // A server may revoke the refresh token as well, so a given one is not used any more.
  server.chain.refreshToken = undefined;
  return sendTokenOrRevocationRequest(server, '/v1/oauth/revoke', { token }, { bearer });
}

/** Requests the list of actions, which every scope may read and which always exists. */
export function requestActionList(server: ServerUnderTest, bearer: Secret): Promise<ConformanceResponse> {
  return server.request({ origin: 'api', method: 'GET', path: '/v2/actions', query: { per_page: '1' }, bearer });
}

export function readTokenResponseInfo({ body }: TestOAuthGrant): JsonRecord {
  return isJsonRecord(body.info) ? body.info : {};
}

function credentialsOf(client: TestedClient | undefined): RequestParameterValues {
  return client === undefined ? {} : { client_id: client.id, client_secret: client.secret };
}

type ParameterValue = RequestParameterValues[string];

function basicHeader(server: ServerUnderTest, id: ParameterValue, secret: ParameterValue): string {
  const text = (value: ParameterValue): string => {
    if (value === undefined) return '';
    if (typeof value === 'string') return encodeURIComponent(value);
    return 'reveal' in value ? encodeURIComponent(value.reveal()) : '';
  };
  const pair = rememberSecret(server, Buffer.from(`${text(id)}:${text(secret)}`).toString('base64'), '[basic]');
  return `Basic ${pair.reveal()}`;
}
