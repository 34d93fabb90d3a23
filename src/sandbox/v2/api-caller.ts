import type { SandboxHandlerContext } from '../handler-context.ts';
import type { SandboxHttpRequest } from '../http/http-request.ts';
import { createLoginCorrelationOfTokenPair, type LoginCorrelationFinder } from '../login-trace.ts';
import type { SandboxOAuthScope } from '../records.ts';
import { getLastTokenCharacters, type RequestLogFields } from '../request-log.ts';
import { apiErrorReply, notFoundReply } from './api-errors.ts';
import type { SandboxApiReply } from './api-reply.ts';

/** The account that sent a request with a valid access token. */
export interface ApiCaller {
  readonly accessToken: string;
  readonly scope: SandboxOAuthScope;
  /** The UUID of the account whose resources the request uses: the team of the grant, or the person if the grant has no team. */
  readonly account: string;
}

/** Replies to a request to the resource API after the caller was authenticated. */
export type ApiRequestHandler = (
  request: SandboxHttpRequest,
  service: SandboxHandlerContext,
  caller: ApiCaller,
) => SandboxApiReply;

export type ApiCallerAuthentication =
  | { readonly isKnown: true; readonly caller: ApiCaller }
  | { readonly isKnown: false; readonly refusal: SandboxApiReply };

/**
 * Authenticates the caller by the bearer token (RFC 6750 §2.1). An unknown, expired or revoked access token gets the response
 * "not found" (docs/service.md S7.5).
 */
export function authenticateApiCaller(
  request: SandboxHttpRequest,
  service: SandboxHandlerContext,
): ApiCallerAuthentication {
  const accessToken = readBearerToken(request);
  if (accessToken === undefined) {
    const refusal = apiErrorReply(401, 'Unable to authenticate you.', { 'www-authenticate': 'Bearer' });
    return { isKnown: false, refusal };
  }
  const pair = service.world.pair(accessToken);
  if (pair === undefined || service.world.pairState(pair) !== 'valid') {
    return { isKnown: false, refusal: unknownTokenReply(service.settings.unknownTokenStatus) };
  }
  return { isKnown: true, caller: { accessToken, scope: pair.scope, account: pair.team ?? pair.person } };
}

/** Returns the bearer token if the request has exactly one Authorization header and the header is well-formed. */
export function readBearerToken(request: SandboxHttpRequest): string | undefined {
  const headers = request.header('authorization');
  return headers.length === 1 ? BEARER.exec(headers[0] ?? '')?.[1] : undefined;
}

/** The end of the bearer token, for the request log. */
export function getLogFieldsOfBearerToken(request: SandboxHttpRequest): RequestLogFields {
  const hint = getLastTokenCharacters(readBearerToken(request) ?? '');
  return hint === undefined ? {} : { token_hint: hint };
}

export const findLoginCorrelationOfBearerToken: LoginCorrelationFinder = (request, { world }) =>
  createLoginCorrelationOfTokenPair(world.pair(readBearerToken(request) ?? ''));

/** The scope that a request needs when no route matches it. */
export function getRequiredScopeOfHttpMethod(method: string): SandboxOAuthScope {
  return method === 'GET' || method === 'HEAD' ? 'read' : 'read write';
}

function unknownTokenReply(status: 404 | 401): SandboxApiReply {
  if (status === 404) return notFoundReply();
  return { ...notFoundReply(), status, headers: { 'www-authenticate': 'Bearer error="invalid_token"' } };
}

/** Clients also send tokens with characters that RFC 6750 does not allow; such a token is unknown, not malformed. */
const BEARER = /^Bearer +([^ \t]+)$/i;
