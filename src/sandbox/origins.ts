import { randomUUID } from 'node:crypto';
import { buildAdminErrorReply, isAuthenticatedAdminRequest, mayUsePanel } from './admin.ts';
import type { SandboxOriginHandlers } from './handle-sandbox-request.ts';
import type { SandboxHandlerContext } from './handler-context.ts';
import { emptyReply, type SandboxHttpReply } from './http/reply.ts';
import type { SandboxHttpRequest } from './http/request.ts';
import { createRouter, type RouteMatch } from './http/router.ts';
import { buildOAuthErrorReply } from './oauth/token.ts';
import { renderErrorPage } from './panel/panel-page.ts';
import { findPanelSession, redirectToSignIn } from './panel/panel-session.ts';
import { type ApiServerRoute, type AuthServerRoute, SANDBOX_ROUTES } from './routes.ts';
import {
  type ApiCaller,
  apiErrorReply,
  authenticateApiCaller,
  findLoginCorrelationOfBearerToken,
  getLogFieldsOfBearerToken,
  getRequiredScopeOfHttpMethod,
  insufficientScopeReply,
  noSuchPathReply,
  type SandboxApiReply,
} from './v2/api.ts';
import { renderRateLimitHeaders, type SandboxRateLimitUsage } from './v2/rate-limit.ts';

/** Serves the origin of the authorization server, the control panel and the admin API. */
export const sandboxAuthOriginHandlers: SandboxOriginHandlers<AuthServerRoute> = {
  router: createRouter(SANDBOX_ROUTES.auth),
  admit: (match, request, service) => () => {
    const reply = respondToAuth(match, request, service);
    return reply instanceof Promise ? reply.then(withCommonHeaders) : withCommonHeaders(reply);
  },
  logFields: (match, request) => (match.found === 'route' ? (match.route.logFields?.(request) ?? {}) : {}),
  trace: (match, request, service) => (match.found === 'route' ? match.route.trace?.(request, service) : undefined),
  // A page revokes the token that it received in the implicit flow. The token endpoint needs the client secret, which no page has.
  allowsCrossOrigin: (path) => path === '/v1/oauth/revoke',
  otherOrigin: ({ ready }) => ready.base_url,
  errorReply: (status, message, request) => withCommonHeaders(errorReply(request, status, message)),
};

function respondToAuth(
  match: RouteMatch<AuthServerRoute>,
  request: SandboxHttpRequest,
  service: SandboxHandlerContext,
): SandboxHttpReply | Promise<SandboxHttpReply> {
  if (request.path.startsWith('/_sandbox/') && !isAuthenticatedAdminRequest(request, service))
    return buildAdminErrorReply(403, FORBIDDEN);
  if (isPanelPage(request.path) && !mayUsePanel(request, service)) return adminTokenRequiredReply();
  if (match.found === 'nothing') return errorReply(request, 404, 'There is no resource at this path.');
  if (match.found === 'path') {
    const reply = errorReply(request, 405, `The path allows ${match.allow}.`);
    return { ...reply, headers: { ...reply.headers, allow: match.allow } };
  }
  const { route } = match;
  if (route.scope !== 'session') return route.handle(request, service);
  const session = findPanelSession(request, service);
  return session === undefined ? redirectToSignIn(request) : route.handle(request, service, session);
}

/** Whether the path belongs to the panel of developers; the sign-in page is also part of every login. */
function isPanelPage(path: string): boolean {
  return path.startsWith('/panel') && path !== '/panel/sign-in';
}

/** The authorization server, the control panel and the admin API each have their own error format. */
function errorReply(request: SandboxHttpRequest, status: number, message: string): SandboxHttpReply {
  if (request.method === 'HEAD') return emptyReply(status);
  if (request.path.startsWith('/_sandbox/')) return buildAdminErrorReply(status, message);
  if (request.path.startsWith('/v')) return buildOAuthErrorReply(status, 'invalid_request', message);
  return renderErrorPage(status, message);
}

function withCommonHeaders(reply: SandboxHttpReply): SandboxHttpReply {
  return { ...reply, headers: { ...COMMON_HEADERS, ...reply.headers } };
}

const FORBIDDEN = 'The admin API requires the admin token in X-Admin-Token and the exact Host.';
function adminTokenRequiredReply(): SandboxHttpReply {
  const page = renderErrorPage(401, 'The control panel requires the admin token as the password.');
  return { ...page, headers: { ...page.headers, 'www-authenticate': 'Basic realm="control panel", charset="UTF-8"' } };
}

const COMMON_HEADERS = {
  'cache-control': 'no-store',
  pragma: 'no-cache',
  'x-content-type-options': 'nosniff',
  // With the policy no-referrer, a browser would send `Origin: null` from the forms of this origin, as it does from forms of
  // other sites.
  'referrer-policy': 'same-origin',
};

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
    return () => toHttpReply(respondToCaller(match, request, service, result.caller), usage);
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

function respondToCaller(
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
