import type { JsonRecord } from '../base/json.ts';
import { isJsonRecord, readStringField } from '../base/json.ts';
import type { Secret } from '../base/secret.ts';
import {
  type AuthorizationRedirect,
  authorizeTestedClient,
  requireTestedClient,
  type TestedClientAuthorizationOptions,
} from './authorize-tested-client.ts';
import { ConformanceDifferenceError, ConformanceNotTestableError } from './conformance-difference-error.ts';
import {
  type ConformanceResponse,
  isSuccessfulResponse,
  readConformanceResponseJson,
  requireResponseCondition,
} from './conformance-response.ts';
import {
  type ConformanceRequest,
  type RequestParameterValues,
  registerRedactedSecret,
  type ServerUnderTest,
  type TestedClient,
} from './server-under-test.ts';

/** Tokens that a test may use up. */
export interface TokensOfTestedServer {
  readonly response: ConformanceResponse;
  readonly body: JsonRecord;
  readonly accessToken: Secret;
  readonly refreshToken: Secret | undefined;
}

/** An authorization code that was not used yet, with the PKCE verifier of its authorization request. */
export interface UnusedAuthorizationCode {
  readonly code: Secret;
  readonly verifier: Secret | undefined;
  readonly authorization: AuthorizationRedirect;
}

/** Requests an authorization code. Throws ConformanceDifferenceError when the redirect contains no code. */
export async function requestTestAuthorizationCode(
  server: ServerUnderTest,
  order: TestedClientAuthorizationOptions = {},
): Promise<UnusedAuthorizationCode> {
  const authorization = await authorizeTestedClient(server, order);
  const code = authorization.query.get('code');
  if (code === null)
    throw new ConformanceDifferenceError('a redirect with the query parameter code', authorization.response);
  return { code: registerRedactedSecret(server, code, '[code]'), verifier: authorization.verifier, authorization };
}

/** The parameters that exchange a code for tokens (spec §4.2); `changes` replaces or removes some of them. */
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
export function sendTestOAuthRequest(
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

export function sendTestTokenRequest(
  server: ServerUnderTest,
  parameters: RequestParameterValues,
): Promise<ConformanceResponse> {
  return sendTestOAuthRequest(server, '/v1/oauth/token', parameters);
}

/** Reads a token response (spec §2). Throws ConformanceDifferenceError when the response contains no access token. */
export function requireTokensOfTestedServer(
  server: ServerUnderTest,
  response: ConformanceResponse,
): TokensOfTestedServer {
  const body = readConformanceResponseJson(response);
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
    accessToken: registerRedactedSecret(server, accessToken ?? '', '[access token]'),
    refreshToken:
      refreshToken === undefined ? undefined : registerRedactedSecret(server, refreshToken, '[refresh token]'),
  };
}

/** Obtains a code that another test needs. If the server issues no code, that test is not testable. */
export function obtainPrerequisiteAuthorizationCode(
  server: ServerUnderTest,
  order: TestedClientAuthorizationOptions = {},
): Promise<UnusedAuthorizationCode> {
  return asPrecondition('code', requestTestAuthorizationCode(server, order));
}

/** Obtains tokens that another test needs. If the server issues no tokens, that test is not testable. */
export function obtainPrerequisiteTokens(
  server: ServerUnderTest,
  order: TestedClientAuthorizationOptions = {},
): Promise<TokensOfTestedServer> {
  return asPrecondition('grant', obtainGrantedTokensOrThrowDifference(server, order));
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

/** Obtains new tokens: by the code flow or, when no user can authorize, with the refresh token that the user gave. */
export async function obtainGrantedTokensOrThrowDifference(
  server: ServerUnderTest,
  order: TestedClientAuthorizationOptions = {},
): Promise<TokensOfTestedServer> {
  const canAuthorize = server.admin !== undefined || server.visit !== undefined;
  const given = server.chain.refreshToken;
  if (!canAuthorize && given !== undefined && !('scope' in order))
    return requireTokensOfTestedServer(server, await sendConformanceRefreshRequest(server, given));
  const code = await requestTestAuthorizationCode(server, { state: server.unique(), ...order });
  const client = order.client ?? requireTestedClient(server);
  const credentials = { client_id: client.id, client_secret: client.secret, redirect_uri: client.callbackUrl };
  return requireTokensOfTestedServer(
    server,
    await sendTestTokenRequest(server, buildCodeExchangeParameters(server, code, credentials)),
  );
}

/** A refresh with the two parameters of the specification (§4.3); other servers also need the client credentials. */
export async function sendConformanceRefreshRequest(
  server: ServerUnderTest,
  refreshToken: Secret | undefined,
): Promise<ConformanceResponse> {
  if (refreshToken === undefined) throw new ConformanceNotTestableError('the grant has no refresh token');
  const response = await sendTestTokenRequest(server, { grant_type: 'refresh_token', refresh_token: refreshToken });
  replaceUsedGivenRefreshToken(server, refreshToken, response);
  return response;
}

/** A refresh token works once, so the refresh token of the response replaces the one that the user gave. */
export function replaceUsedGivenRefreshToken(
  server: ServerUnderTest,
  used: Secret | undefined,
  response: ConformanceResponse,
): void {
  const next = readStringField(readConformanceResponseJson(response) ?? {}, 'refresh_token');
  if (next !== undefined && used !== undefined && server.chain.refreshToken?.reveal() === used.reveal())
    server.chain.refreshToken = registerRedactedSecret(server, next, '[refresh token]');
}

export function sendTestRevocationRequest(
  server: ServerUnderTest,
  token: Secret | undefined,
  bearer?: Secret,
): Promise<ConformanceResponse> {
  // Revoking an access token may also revoke its refresh token, so the refresh token given by the user is not used again.
  server.chain.refreshToken = undefined;
  return sendTestOAuthRequest(server, '/v1/oauth/revoke', { token }, { bearer });
}

/** Requests the list of actions, which every scope may read and which always exists. */
export function requestActionList(server: ServerUnderTest, bearer: Secret): Promise<ConformanceResponse> {
  return server.request({ origin: 'api', method: 'GET', path: '/v2/actions', query: { per_page: '1' }, bearer });
}

export function readAccountInfoOfTokenResponse({ body }: TokensOfTestedServer): JsonRecord {
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
  const pair = registerRedactedSecret(server, Buffer.from(`${text(id)}:${text(secret)}`).toString('base64'), '[basic]');
  return `Basic ${pair.reveal()}`;
}
