import type { JsonRecord } from '../json.ts';
import { isJsonRecord, readStringField } from '../json.ts';
import type { Secret } from '../secret.ts';
import { type Authorization, type AuthorizationOrder, authorize, requireClient } from './authorize.ts';
import { ConformanceDifference, NotTestable } from './conformance-difference.ts';
import { type ConformanceResponse, isSuccessful, readJsonBody, requireOfResponse } from './conformance-response.ts';
import {
  type ConformanceRequest,
  type RequestParameterValues,
  rememberSecret,
  type ServerUnderTest,
  type TestedClient,
} from './server-under-test.ts';

/** Tokens that a play may use up. */
export interface TestedGrant {
  readonly response: ConformanceResponse;
  readonly body: JsonRecord;
  readonly accessToken: Secret;
  readonly refreshToken: Secret | undefined;
}

/** An authorization code that was not used yet, with the verifier of its request. */
export interface TestedCode {
  readonly code: Secret;
  readonly verifier: Secret | undefined;
  readonly authorization: Authorization;
}

/** Requests a code. Throws ConformanceDifference when the redirect has none. */
export async function attemptCode(server: ServerUnderTest, order: AuthorizationOrder = {}): Promise<TestedCode> {
  const authorization = await authorize(server, order);
  const code = authorization.query.get('code');
  if (code === null)
    throw new ConformanceDifference('a redirect with the query parameter code', authorization.response);
  return { code: rememberSecret(server, code, '[code]'), verifier: authorization.verifier, authorization };
}

/** The parameters of a code exchange (spec §4.2), with the changes. */
export function exchangeParameters(
  server: ServerUnderTest,
  { code, verifier }: Pick<TestedCode, 'code' | 'verifier'>,
  changes: RequestParameterValues = {},
): RequestParameterValues {
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
 * Sends a request to the token endpoint or the revocation endpoint, with the parameters in the query (spec §4.2) unless the
 * profile of the server says otherwise.
 */
export function sendOAuthRequest(
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
  return sendOAuthRequest(server, '/v1/oauth/token', parameters);
}

/** Reads a grant (spec §2); throws ConformanceDifference when the response is none. */
export function readGrant(server: ServerUnderTest, response: ConformanceResponse): TestedGrant {
  const body = readJsonBody(response);
  const accessToken = body === undefined ? undefined : readStringField(body, 'access_token');
  const refreshToken = body === undefined ? undefined : readStringField(body, 'refresh_token');
  requireOfResponse(isSuccessful(response) && (accessToken ?? '') !== '', 'a grant with an access_token', response);
  return {
    response,
    body: body ?? {},
    accessToken: rememberSecret(server, accessToken ?? '', '[access token]'),
    refreshToken: refreshToken === undefined ? undefined : rememberSecret(server, refreshToken, '[refresh token]'),
  };
}

/** A code for a statement about something else: without one, that statement is not testable. */
export function requestCode(server: ServerUnderTest, order: AuthorizationOrder = {}): Promise<TestedCode> {
  return asPrecondition('code', attemptCode(server, order));
}

/** A grant for a statement about something else: without one, that statement is not testable. */
export function requestGrant(server: ServerUnderTest, order: AuthorizationOrder = {}): Promise<TestedGrant> {
  return asPrecondition('grant', attemptGrant(server, order));
}

async function asPrecondition<T>(name: string, result: Promise<T>): Promise<T> {
  try {
    return await result;
  } catch (error) {
    if (!(error instanceof ConformanceDifference)) throw error;
    throw new NotTestable(`needs a ${name}, but expected ${error.expected} and received ${error.received}`);
  }
}

/** A new grant: by the code flow, or by a refresh of the given refresh token when no user can authorize. */
export async function attemptGrant(server: ServerUnderTest, order: AuthorizationOrder = {}): Promise<TestedGrant> {
  const canAuthorize = server.admin !== undefined || server.visit !== undefined;
  const given = server.chain.refreshToken;
  if (!canAuthorize && given !== undefined && !('scope' in order))
    return readGrant(server, await sendRefresh(server, given));
  const code = await attemptCode(server, { state: server.unique(), ...order });
  const client = order.client ?? requireClient(server);
  const credentials = { client_id: client.id, client_secret: client.secret, redirect_uri: client.callbackUrl };
  return readGrant(server, await postTokenRequest(server, exchangeParameters(server, code, credentials)));
}

/** A refresh with the two parameters of the specification (§4.3); other servers also need the client credentials. */
export async function sendRefresh(
  server: ServerUnderTest,
  refreshToken: Secret | undefined,
): Promise<ConformanceResponse> {
  if (refreshToken === undefined) throw new NotTestable('the grant has no refresh token');
  const response = await postTokenRequest(server, { grant_type: 'refresh_token', refresh_token: refreshToken });
  keepSuccessor(server, refreshToken, response);
  return response;
}

/** The given refresh token is single-use, so the next grant is requested with its successor. */
export function keepSuccessor(server: ServerUnderTest, used: Secret | undefined, response: ConformanceResponse): void {
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
  return sendOAuthRequest(server, '/v1/oauth/revoke', { token }, { bearer });
}

/** Requests the list of actions, which every scope may read and which always exists. */
export function readActions(server: ServerUnderTest, bearer: Secret): Promise<ConformanceResponse> {
  return server.request({ origin: 'api', method: 'GET', path: '/v2/actions', query: { per_page: '1' }, bearer });
}

export function readInfo({ body }: TestedGrant): JsonRecord {
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
