import { randomUUID } from 'node:crypto';
import type { SandboxOriginHandlers } from '../handle-sandbox-request.ts';
import type { SandboxHandlerContext } from '../handler-context.ts';
import type { SandboxHttpReply } from '../http/http-reply.ts';
import type { SandboxHttpRequest } from '../http/http-request.ts';
import { createRouter, type RouteMatch } from '../http/router.ts';
import { type ApiServerRoute, SANDBOX_ROUTES } from '../routes.ts';
import {
  type ApiCaller,
  authenticateApiCaller,
  findLoginCorrelationOfBearerToken,
  getLogFieldsOfBearerToken,
  getRequiredScopeOfHttpMethod,
} from '../v2/api-caller.ts';
import { apiErrorReply, insufficientScopeReply, noSuchPathReply } from '../v2/api-errors.ts';
import type { SandboxApiReply } from '../v2/api-reply.ts';
import { renderRateLimitHeaders, type SandboxRateLimitUsage } from '../v2/rate-limit.ts';

/** Older clients of the API append a slash to every path. */
const routeWithoutSlash = createRouter(SANDBOX_ROUTES.api);

/**
 * Serves the origin of the resource API. Authenticates the caller before looking up the path, so that only authenticated
 * callers learn which paths exist.
 */
export const sandboxApiOriginHandlers: SandboxOriginHandlers<ApiServerRoute> = {
  router: (method, path) => routeWithoutSlash(method, path.replace(/(?<=[^/])\/$/, '')),
  admit: (match, request, service) => {
    const result = authenticateApiCaller(request, service);
    const rateLimitKey = result.isKnown ? result.caller.accessToken : 'anonymous';
    const usage = service.limiter.countRequest(rateLimitKey, service.world.now());
    if (usage?.retryAfterMs !== undefined)
      return () => toHttpReply(apiErrorReply(429, 'API rate limit exceeded.'), usage);
    if (!result.isKnown) return () => toHttpReply(result.refusal, usage);
    return () => toHttpReply(respond(match, request, service, result.caller), usage);
  },
  errorReply: (status, message, _request, service) => {
    return toHttpReply(apiErrorReply(status, message), service.limiter.countRequest('anonymous', service.world.now()));
  },
  trace: (_match, request, service) => findLoginCorrelationOfBearerToken(request, service),
  // The implicit flow gives access tokens to pages of other origins (docs/service.md S1.3).
  allowsCrossOrigin: (path) => path.startsWith('/v2/'),
  otherOrigin: ({ ready }) => ready.auth_url,
  logFields: (_match, request) => getLogFieldsOfBearerToken(request),
};

function respond(
  match: RouteMatch<ApiServerRoute>,
  request: SandboxHttpRequest,
  service: SandboxHandlerContext,
  caller: ApiCaller,
): SandboxApiReply {
  const scope = match.found === 'route' ? match.route.scope : getRequiredScopeOfHttpMethod(request.method);
  if (scope === 'read write' && caller.scope === 'read') return insufficientScopeReply();
  if (match.found === 'nothing') return noSuchPathReply();
  if (match.found === 'path') return apiErrorReply(405, `The path allows ${match.allow}.`, { allow: match.allow });
  return match.route.handle(request, service, caller);
}

function toHttpReply(reply: SandboxApiReply, usage: SandboxRateLimitUsage | undefined): SandboxHttpReply {
  const id = randomUUID();
  const value = reply.status >= 400 ? { ...reply.value, request_id: id } : reply.value;
  return {
    status: reply.status,
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-request-id': id,
      ...renderRateLimitHeaders(usage),
      ...reply.headers,
    },
    body: reply.json ?? (value === undefined ? '' : JSON.stringify(value)),
  };
}
