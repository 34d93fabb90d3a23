import { isJsonRecord, readStringField, tryParseJson } from '../../base/json.ts';
import { redactSecrets } from '../../base/redact.ts';
import { sanitizeLine } from '../../base/sanitize.ts';
import { Secret, secretUrl, withhold } from '../../base/secret.ts';
import { type HttpResponse, type HttpSender, readBody } from '../../platform/http-sender.ts';
import type { CheckedCode } from './authorize.ts';
import { decodeGrant, decodePartialGrant, isAbsent, type PartialGrant, type TokenGrant } from './grant.ts';

/** The registered application, which is the OAuth client (RFC 6749 §2). */
export interface OAuthClient {
  readonly authOrigin: string;
  readonly clientId: string;
  readonly clientSecret?: Secret | undefined;
  readonly tokenParams: TokenPlacement;
}

/**
 * How parameters are sent to the token endpoint. `query`: parameters are sent in the query of the URL (docs/service.md S5.1). `body`,
 * for other servers: parameters are sent as a form (RFC 6749 §3.2), and refresh and revocation requests also contain the client
 * credentials. `basic`: parameters are sent as a form and the client credentials in the Authorization header, which every
 * server with client secrets supports (https://www.rfc-editor.org/rfc/rfc6749#section-2.3.1).
 */
export type TokenPlacement = 'query' | 'body' | 'basic';

export type TokenResult = { readonly kind: 'granted'; readonly grant: TokenGrant } | TokenFailure;

/** A token response that is not a grant; `reason` quotes no value of the response. */
export type TokenFailure =
  | { readonly kind: 'refused'; readonly error: string; readonly description?: string; readonly status: number }
  | {
      readonly kind: 'malformed';
      readonly reason: string;
      readonly status: number;
      /**
       * The tokens of an invalid response with a success status, if it has any. After a new refresh token the old one is no longer
       * valid.
       */
      readonly partial?: PartialGrant;
    };

/**
 * A response of the token endpoint that was read completely and is not yet decoded. A refresh stores the response body in its
 * journal before decoding it.
 */
export interface RawTokenResponse {
  readonly status: number;
  readonly contentType: string;
  /** The response body; undefined if it is longer than 1 MiB. */
  readonly body: string | undefined;
}

interface TokenRequest {
  readonly url: Secret;
  readonly body: Secret | undefined;
  /** The Authorization header: the client credentials (scheme Basic), or the token to revoke (scheme Bearer). */
  readonly authorization: Secret | undefined;
  /** The secrets in the request, which are removed from the text of an error response. */
  readonly secrets: readonly Secret[];
}

type TokenParameters = readonly (readonly [string, string | Secret | undefined])[];

/**
 * Creates the request that exchanges an authorization code whose state was checked (docs/service.md S5.2;
 * https://www.rfc-editor.org/rfc/rfc6749#section-4.1.3).
 */
export function codeRequest(
  client: OAuthClient,
  code: CheckedCode,
  redirectUri: string,
  verifier: Secret | undefined,
): TokenRequest {
  return tokenRequest(client, '/v1/oauth/token', [
    ['grant_type', 'authorization_code'],
    ['code', code.code],
    ...clientCredentials(client),
    ['redirect_uri', redirectUri],
    ['code_verifier', verifier],
  ]);
}

/**
 * Creates the request that redeems a single-use refresh token (docs/service.md S5.7); in the query form it has no client credentials
 * (docs/service.md S5.7).
 */
export function refreshRequest(client: OAuthClient, refreshToken: Secret): TokenRequest {
  return tokenRequest(client, '/v1/oauth/token', [
    ['grant_type', 'refresh_token'],
    ['refresh_token', refreshToken],
    ...(client.tokenParams === 'query' ? [] : clientCredentials(client)),
  ]);
}

/**
 * Creates the request that revokes a token (docs/service.md S6.1; https://www.rfc-editor.org/rfc/rfc7009#section-2.1). In query
 * form the token itself is the bearer token of the request (docs/service.md S6.3).
 */
export function revokeRequest(client: OAuthClient, token: Secret): TokenRequest {
  const isBearer = client.tokenParams === 'query';
  const request = tokenRequest(client, '/v1/oauth/revoke', [
    ['token', token],
    ...(isBearer ? [] : clientCredentials(client)),
  ]);
  return isBearer ? { ...request, authorization: new Secret(`Bearer ${token.reveal()}`) } : request;
}

/** Exchanges an authorization code whose state was checked. The three functions reject with SendError without a response. */
export async function redeemCode(
  send: HttpSender,
  client: OAuthClient,
  {
    code,
    redirectUri,
    verifier,
  }: { readonly code: CheckedCode; readonly redirectUri: string; readonly verifier?: Secret | undefined },
  signal: AbortSignal,
): Promise<TokenResult> {
  return decodeTokenResponse(await sendTokenRequest(send, codeRequest(client, code, redirectUri, verifier), signal));
}

/** Redeems a refresh token; the response is not yet decoded, because its text must not be lost, whatever it says. */
export function redeemRefreshToken(
  send: HttpSender,
  client: OAuthClient,
  token: Secret,
  signal: AbortSignal,
  observer: ResponseObserver,
): Promise<RawTokenResponse> {
  return sendTokenRequest(send, refreshRequest(client, token), signal, observer);
}

/** Revokes a token; resolves with undefined if the server has revoked it. */
export async function revokeToken(
  send: HttpSender,
  client: OAuthClient,
  token: Secret,
  signal: AbortSignal,
): Promise<TokenFailure | undefined> {
  return decodeRevocation(await sendTokenRequest(send, revokeRequest(client, token), signal));
}

/**
 * Sends the token request and reads the complete response. Throws SendError if no complete response arrives. A redirect counts
 * as a response and is not followed.
 */
export async function sendTokenRequest(
  send: HttpSender,
  { url, body, authorization, secrets }: TokenRequest,
  signal: AbortSignal,
  observer?: ResponseObserver,
): Promise<RawTokenResponse> {
  const form = body === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' };
  observer?.onStage('sending');
  const response = await send(url.reveal(), {
    method: 'POST',
    headers: {
      accept: 'application/json',
      ...form,
      ...(authorization === undefined ? {} : { authorization: authorization.reveal() }),
    },
    ...(body === undefined ? {} : { body: body.reveal() }),
    signal,
    redirect: 'manual',
  });
  observer?.onStage('answering');
  const { status } = response;
  const head = { status, contentType: contentTypeOf(response, secrets) };
  const observed = observer === undefined ? response : { ...response, body: observeBody(response, head, observer) };
  const text = await readBody(observed, bodyLimit);
  const isRedacted = text !== undefined && !isSuccessStatus(status);
  return { ...head, body: isRedacted ? redactSecrets(text, secrets) : text };
}

/** The maximum length of a response body in bytes. */
const bodyLimit = 1024 * 1024;

export function isSuccessStatus(status: number): boolean {
  return status >= 200 && status < 300;
}

/** Follows the response to a request while it is read. */
export interface ResponseObserver {
  readonly onStage: (stage: 'sending' | 'answering' | 'partial') => void;
  /** Called at the last byte of the Content-Length, and with an incomplete body that has new tokens. */
  readonly onBody: (response: RawTokenResponse) => Promise<void>;
}

/** Reports a body at the last byte of its Content-Length, because the end of the stream arrives milliseconds later. */
async function* observeBody(
  { headers, body }: HttpResponse,
  head: Pick<RawTokenResponse, 'status' | 'contentType'>,
  { onStage, onBody }: ResponseObserver,
): AsyncGenerator<Uint8Array> {
  // The Content-Length of a compressed body is not the length of the decompressed body.
  const announced = headers.get('content-encoding') === null ? Number(headers.get('content-length') ?? -1) : -1;
  const chunks: Uint8Array[] = [];
  let size = 0;
  const read = (): RawTokenResponse => ({ ...head, body: Buffer.concat(chunks).toString('utf8') });
  try {
    for await (const chunk of body ?? []) {
      onStage('partial');
      size += chunk.byteLength;
      if (size <= bodyLimit) chunks.push(chunk);
      if (size === announced && size <= bodyLimit) await onBody(read());
      yield chunk;
    }
  } catch (error) {
    // The last chunk or the end of the compression is missing, or the announced length is wrong, but the new tokens may be complete.
    if (size <= bodyLimit && hasNewTokens(decodeTokenResponse(read()))) await onBody(read());
    throw error;
  }
}

/** Whether the text of an incomplete response is a complete grant, or has at least tokens that a session can use. */
function hasNewTokens(result: TokenResult): boolean {
  if (result.kind !== 'malformed') return result.kind === 'granted';
  return result.partial?.refreshToken !== undefined || result.partial?.unrenewable !== undefined;
}

/** The error code in a response with a success status, which some servers send; undefined if the response also contains a token. */
function errorInSuccess(json: unknown): string | undefined {
  if (!isJsonRecord(json) || !isAbsent(json.access_token)) return undefined;
  const error = readStringField(json, 'error');
  return error !== undefined && /^[a-z_]{1,64}$/.test(error) ? error : undefined;
}

/** Decodes a response of the token endpoint (https://www.rfc-editor.org/rfc/rfc6749#section-5). */
export function decodeTokenResponse(raw: RawTokenResponse): TokenResult {
  const { status } = raw;
  if (status >= 300 && status < 400 && status !== 304)
    return { kind: 'malformed', status, reason: `the response is a redirect (status ${status})` };
  if (raw.body === undefined) return { kind: 'malformed', status, reason: 'the response is longer than 1 MiB' };
  const json = tryParseJson(raw.body);
  if (!json.ok)
    return {
      kind: 'malformed',
      status,
      reason: `the response ${json.reason} (content type ${raw.contentType || 'missing'}, status ${status})`,
    };
  if (isSuccessStatus(status)) {
    const error = errorInSuccess(json.value);
    // The error description of the server is omitted, because secrets are removed only from responses with an error status.
    if (error !== undefined) return { kind: 'refused', status, error };
    const grant = decodeGrant(json.value);
    if (grant.ok) return { kind: 'granted', grant: grant.value };
    const partial = decodePartialGrant(json.value);
    return { kind: 'malformed', status, reason: grant.reason, ...(partial === undefined ? {} : { partial }) };
  }
  const error = isJsonRecord(json.value) ? readStringField(json.value, 'error') : undefined;
  if (error === undefined || error === '')
    return { kind: 'malformed', status, reason: `the response has no error code (status ${status})` };
  const description = isJsonRecord(json.value) ? readStringField(json.value, 'error_description') : undefined;
  return { kind: 'refused', status, error, ...(description === undefined ? {} : { description }) };
}

/** Returns undefined if the token was revoked (docs/service.md S6.2; https://www.rfc-editor.org/rfc/rfc7009#section-2.2). */
export function decodeRevocation(raw: RawTokenResponse): TokenFailure | undefined {
  // RFC 7009 §2.2 specifies only status 200, but some servers respond with 204 because the body is empty.
  if (raw.status === 200 || raw.status === 204) return undefined;
  const result = decodeTokenResponse(raw);
  if (result.kind !== 'granted') return result;
  return { kind: 'malformed', status: raw.status, reason: `the status is ${raw.status}` };
}

/** The client credentials as request parameters. A client without a secret always sends its client ID. */
function clientCredentials(client: OAuthClient): TokenParameters {
  if (basicCredentials(client) !== undefined) return [];
  return [
    ['client_id', client.clientId],
    ['client_secret', client.clientSecret],
  ];
}

function tokenRequest(client: OAuthClient, path: string, parameters: TokenParameters): TokenRequest {
  const url = new URL(path, client.authOrigin);
  const form = new URLSearchParams();
  for (const [name, value] of parameters) {
    if (value !== undefined) form.append(name, typeof value === 'string' ? value : value.reveal());
  }
  const secrets = parameters.flatMap(([, value]) => (value instanceof Secret ? [withhold(value)] : []));
  if (client.tokenParams === 'query') {
    url.search = form.toString();
    return { url: secretUrl(url), body: undefined, authorization: undefined, secrets };
  }
  const basic = basicCredentials(client);
  const known = [basic, client.clientSecret].filter((one) => one !== undefined);
  const body = new Secret(form.toString(), '[form]');
  if (basic === undefined) return { url: secretUrl(url), body, authorization: undefined, secrets };
  const authorization = new Secret(`Basic ${basic.reveal()}`, '[basic]');
  return { url: secretUrl(url), body, authorization, secrets: [...secrets, ...known] };
}

function basicCredentials({ tokenParams, clientId, clientSecret }: OAuthClient): Secret | undefined {
  if (tokenParams !== 'basic' || clientSecret === undefined) return undefined;
  const pair = [clientId, clientSecret.reveal()].map(encodeCredential).join(':');
  return withhold(new Secret(Buffer.from(pair).toString('base64'), '[basic]'));
}

/**
 * Encodes only the characters that a server would otherwise misread: many servers do not decode Basic credentials at all, and
 * some read a `+` as a space.
 */
function encodeCredential(text: string): string {
  return [...Buffer.from(text, 'utf8')]
    .map((byte) => {
      const isPlain = byte > 0x20 && byte < 0x7f && !'%+:'.includes(String.fromCharCode(byte));
      return isPlain ? String.fromCharCode(byte) : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
    })
    .join('');
}

/**
 * The content type of a response without its parameters and without the secrets of the request, which a server may repeat in any
 * header, because errors quote it. It has at most 100 characters.
 */
function contentTypeOf({ headers }: Pick<HttpResponse, 'headers'>, secrets: readonly Secret[]): string {
  // The text is redacted before it is truncated, because a part of a secret is not recognized.
  const [contentType = ''] = redactSecrets(headers.get('content-type') ?? '', secrets).split(';');
  return sanitizeLine(contentType, 100);
}
