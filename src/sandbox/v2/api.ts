import { type DuplicateKey, type HttpRequest, parseJson, parseMediaType } from '../http/request.ts';
import { type LoginFinder, loginOfPair } from '../login-timeline.ts';
import type { OAuthScope } from '../records.ts';
import { type LogFields, tokenEnd } from '../request-log.ts';
import type { Service } from '../service.ts';

/** The account that sent a request with a valid access token. */
export interface ApiCaller {
  readonly accessToken: string;
  readonly scope: OAuthScope;
  /** The UUID of the account whose resources the request uses: the team of the grant, or the person if the grant has no team. */
  readonly account: string;
}

/** Replies to a request to the resource API after the caller was authenticated. */
export type ApiHandler = (request: HttpRequest, service: Service, caller: ApiCaller) => ApiReply;

export type CallerAuthentication =
  | { readonly isKnown: true; readonly caller: ApiCaller }
  | { readonly isKnown: false; readonly refusal: ApiReply };

/**
 * Authenticates the caller by the bearer token (RFC 6750 §2.1). An unknown, expired or revoked access token gets the response
 * "not found" (docs/service.md S7.5).
 */
export function authenticateCaller(request: HttpRequest, service: Service): CallerAuthentication {
  const accessToken = readBearerToken(request);
  if (accessToken === undefined) {
    const refusal = apiError(401, 'Unable to authenticate you.', { 'www-authenticate': 'Bearer' });
    return { isKnown: false, refusal };
  }
  const pair = service.world.grants.pair(accessToken);
  if (pair === undefined || service.world.grants.pairState(pair) !== 'valid') {
    return { isKnown: false, refusal: unknownTokenReply(service.settings.unknownTokenStatus) };
  }
  return { isKnown: true, caller: { accessToken, scope: pair.scope, account: pair.team ?? pair.person } };
}

/** Returns the bearer token if the request has exactly one Authorization header and the header is well-formed. */
export function readBearerToken(request: HttpRequest): string | undefined {
  const headers = request.header('authorization');
  return headers.length === 1 ? BEARER.exec(headers[0] ?? '')?.[1] : undefined;
}

/** The end of the bearer token, for the request log. */
export function bearerFields(request: HttpRequest): LogFields {
  const hint = tokenEnd(readBearerToken(request) ?? '');
  return hint === undefined ? {} : { token_hint: hint };
}

export const loginOfBearer: LoginFinder = (request, { world }) =>
  loginOfPair(world.grants.pair(readBearerToken(request) ?? ''));

/** The scope that a request needs when no route matches it. */
export function requiredScope(method: string): OAuthScope {
  return method === 'GET' || method === 'HEAD' ? 'read' : 'read write';
}

function unknownTokenReply(status: 404 | 401): ApiReply {
  if (status === 404) return notFound();
  return { ...notFound(), status, headers: { 'www-authenticate': 'Bearer error="invalid_token"' } };
}

/** Clients also send tokens with characters that RFC 6750 does not allow; such a token is unknown, not malformed. */
const BEARER = /^Bearer +([^ \t]+)$/i;

/** A reply of the resource API before serialization. If both `value` and `json` are absent, the body is empty. */
export interface ApiReply {
  readonly status: number;
  readonly value: object | undefined;
  /** The body of the reply as JSON text, if it is already serialized. */
  readonly json?: string;
  readonly headers: Readonly<Record<string, string>>;
}

export function apiReply(status: number, value: object | undefined): ApiReply {
  return { status, value, headers: {} };
}

/** Creates a reply from JSON text, so that the constant parts of a long list are serialized only once. */
export function apiJsonReply(status: number, json: string): ApiReply {
  return { status, value: undefined, json, headers: {} };
}

type ProblemStatus = keyof typeof IDS;

/** Creates an error of the resource API with the body `{id, message}`, to which the server adds `request_id`. */
export function apiError(
  status: ProblemStatus,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): ApiReply {
  return { status, value: { id: IDS[status], message }, headers };
}

/** The error for a missing resource, and also for an unknown access token (docs/service.md S7.5). */
export function notFound(): ApiReply {
  return apiError(404, 'The resource you were accessing could not be found.');
}

/** The error for a path that the sandbox does not have; its id differs from the id for an unknown access token. */
export function noSuchPath(): ApiReply {
  const message = 'The sandbox does not have this path.';
  return { ...notFound(), value: { id: 'no_such_path', message } };
}

export function insufficientScope(): ApiReply {
  const message = 'You do not have access for the attempted action: the scope of the access token is read.';
  // The header WWW-Authenticate follows RFC 6750 §3.1.
  return apiError(403, message, { 'www-authenticate': 'Bearer error="insufficient_scope", scope="read write"' });
}

/** The error for an invalid value; the message names the field. */
export function unprocessable(message: string): ApiReply {
  return apiError(422, message);
}

/** Returns the error id for a status; `error` for a status that only faults use. */
export function errorIdOf(status: number): string {
  return new Map<number, string>(Object.entries(IDS).map(([code, id]) => [Number(code), id])).get(status) ?? 'error';
}

const IDS = {
  400: 'bad_request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  405: 'method_not_allowed',
  409: 'conflict',
  413: 'payload_too_large',
  415: 'unsupported_media_type',
  421: 'misdirected_request',
  422: 'unprocessable_entity',
  429: 'too_many_requests',
  500: 'server_error',
} as const;

export interface ParsedBody {
  readonly value: unknown;
  readonly repeated: readonly DuplicateKey[];
}

/**
 * Decodes the JSON body of a request; returns an ApiReply with status 415 when the content type is not JSON, and 400 when
 * the text is not valid JSON.
 */
export function readApiJson(request: HttpRequest): ParsedBody | ApiReply {
  if (parseMediaType(request.header('content-type')[0]) !== 'application/json') {
    return apiError(415, 'The Content-Type of the request must be application/json.');
  }
  return parseJson(request.body) ?? apiError(400, 'The request body is not valid JSON.');
}

/** Parses the id in the path; undefined unless it has the form in which the API writes numbers. */
export function readPathId(request: HttpRequest): number | undefined {
  const [text = ''] = request.captures;
  return /^[1-9]\d{0,15}$/.test(text) ? Number(text) : undefined;
}
