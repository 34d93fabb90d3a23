import { isJsonRecord, readStringField, tryParseJson } from '../../base/json.ts';
import { redactSecrets } from '../../base/redact.ts';
import { sanitizeLine } from '../../base/sanitize.ts';
import { Secret, withhold, wrapUrlAsSecret } from '../../base/secret.ts';
import { readResponseBodyText } from '../../platform/buffered-response-body.ts';
import type { HttpResponse, HttpSender } from '../../platform/http-sender.ts';
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
       * Present if an invalid response with a success status contains a new refresh token, after which the old refresh token is
       * no longer valid.
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

export interface TokenRequest {
  readonly url: Secret;
  readonly body: Secret | undefined;
  /** The client credentials for the Authorization header (scheme Basic). */
  readonly basic: Secret | undefined;
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

/** Creates the request that revokes an access token (docs/service.md S6.1; https://www.rfc-editor.org/rfc/rfc7009#section-2.1). */
export function revokeRequest(client: OAuthClient, token: Secret): TokenRequest {
  return tokenRequest(client, '/v1/oauth/revoke', [
    ['token', token],
    ...(client.tokenParams === 'query' ? [] : clientCredentials(client)),
  ]);
}

/**
 * Sends the token request and reads the complete response. Throws HttpSendError if no complete response arrives. A redirect counts
 * as a response and is not followed.
 */
export async function sendTokenRequest(
  send: HttpSender,
  request: TokenRequest,
  signal: AbortSignal,
  headers: Readonly<Record<string, string>> = {},
): Promise<RawTokenResponse> {
  const form = request.body === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' };
  const basic = request.basic === undefined ? {} : { authorization: `Basic ${request.basic.reveal()}` };
  const response = await send(request.url.reveal(), {
    method: 'POST',
    headers: { accept: 'application/json', ...form, ...basic, ...headers },
    ...(request.body === undefined ? {} : { body: request.body.reveal() }),
    signal,
    redirect: 'manual',
  });
  const raw = await readTokenResponse(response, request.secrets);
  if (raw.body === undefined || (raw.status >= 200 && raw.status < 300)) return raw;
  return { ...raw, body: redactSecrets(raw.body, request.secrets) };
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
  if (status >= 200 && status < 300) {
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
    return { url: wrapUrlAsSecret(url), body: undefined, basic: undefined, secrets };
  }
  const basic = basicCredentials(client);
  const known = [basic, client.clientSecret].filter((one) => one !== undefined);
  const body = new Secret(form.toString(), '[form]');
  return { url: wrapUrlAsSecret(url), body, basic, secrets: basic === undefined ? secrets : [...secrets, ...known] };
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
export function readContentType({ headers }: Pick<HttpResponse, 'headers'>, secrets: readonly Secret[]): string {
  // The text is redacted before it is truncated, because a part of a secret is not recognized.
  const [contentType = ''] = redactSecrets(headers.get('content-type') ?? '', secrets).split(';');
  return sanitizeLine(contentType, 100);
}

async function readTokenResponse(response: HttpResponse, secrets: readonly Secret[]): Promise<RawTokenResponse> {
  return {
    status: response.status,
    contentType: readContentType(response, secrets),
    body: await readResponseBodyText(response, 1024 * 1024),
  };
}
