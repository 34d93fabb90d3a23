import { randomUUID } from 'node:crypto';
import { adminError, isAdmin, mayUsePanel } from './admin.ts';
import type { OriginHandlers } from './handle-request.ts';
import { emptyReply, type Reply } from './http/reply.ts';
import type { HttpRequest } from './http/request.ts';
import { createRouter, type RouteMatch } from './http/router.ts';
import { oauthError } from './oauth/token.ts';
import { renderError } from './panel/panel-page.ts';
import { findSession, redirectToSignIn } from './panel/panel-session.ts';
import { type ApiRoute, type AuthRoute, SANDBOX_ROUTES } from './routes.ts';
import type { Service } from './service.ts';
import {
  type ApiCaller,
  type ApiReply,
  apiError,
  authenticateCaller,
  bearerFields,
  insufficientScope,
  loginOfBearer,
  noSuchPath,
  requiredScope,
} from './v2/api.ts';
import { type RateLimitUsage, renderRateLimitHeaders } from './v2/rate-limit.ts';

/** Serves the origin of the authorization server, the control panel and the admin API. */
export const authHandlers: OriginHandlers<AuthRoute> = {
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

function respondToAuth(match: RouteMatch<AuthRoute>, request: HttpRequest, service: Service): Reply | Promise<Reply> {
  if (request.path.startsWith('/_sandbox/') && !isAdmin(request, service)) return adminError(403, FORBIDDEN);
  if (isPanelPage(request.path) && !mayUsePanel(request, service)) return adminTokenRequiredReply();
  if (match.found === 'nothing') return errorReply(request, 404, 'There is no resource at this path.');
  if (match.found === 'path') {
    const reply = errorReply(request, 405, `The path allows ${match.allow}.`);
    return { ...reply, headers: { ...reply.headers, allow: match.allow } };
  }
  const { route } = match;
  if (route.scope !== 'session') return route.handle(request, service);
  const session = findSession(request, service);
  return session === undefined ? redirectToSignIn(request) : route.handle(request, service, session);
}

/** Whether the path belongs to the panel of developers; the sign-in page is also part of every login. */
function isPanelPage(path: string): boolean {
  return path.startsWith('/panel') && path !== '/panel/sign-in';
}

/** The authorization server, the control panel and the admin API each have their own error format. */
function errorReply(request: HttpRequest, status: number, message: string): Reply {
  if (request.method === 'HEAD') return emptyReply(status);
  if (request.path.startsWith('/_sandbox/')) return adminError(status, message);
  if (request.path.startsWith('/v')) return oauthError(status, 'invalid_request', message);
  return renderError(status, message);
}

function withCommonHeaders(reply: Reply): Reply {
  return { ...reply, headers: { ...COMMON_HEADERS, ...reply.headers } };
}

const FORBIDDEN = 'The admin API requires the admin token in X-Admin-Token and the exact Host.';
function adminTokenRequiredReply(): Reply {
  const page = renderError(401, 'The control panel requires the admin token as the password.');
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
export const apiHandlers: OriginHandlers<ApiRoute> = {
  router: (method, path) => routeWithoutSlash(method, path.replace(/(?<=[^/])\/$/, '')),
  admit: (match, request, service) => {
    const result = authenticateCaller(request, service);
    const rateLimitKey = result.isKnown ? result.caller.accessToken : 'anonymous';
    const usage = service.limiter.countRequest(rateLimitKey, service.world.now());
    if (usage?.retryAfterMs !== undefined) return () => toHttpReply(apiError(429, 'API rate limit exceeded.'), usage);
    if (!result.isKnown) return () => toHttpReply(result.refusal, usage);
    return () => toHttpReply(respondToCaller(match, request, service, result.caller), usage);
  },
  errorReply: (status, message, _request, service) => {
    return toHttpReply(apiError(status, message), service.limiter.countRequest('anonymous', service.world.now()));
  },
  trace: (_match, request, service) => loginOfBearer(request, service),
  // The implicit flow gives access tokens to pages of other origins (docs/service.md S1.3).
  allowsCrossOrigin: (path) => path.startsWith('/v2/'),
  otherOrigin: ({ ready }) => ready.auth_url,
  logFields: (_match, request) => bearerFields(request),
};

function respondToCaller(
  match: RouteMatch<ApiRoute>,
  request: HttpRequest,
  service: Service,
  caller: ApiCaller,
): ApiReply {
  const scope = match.found === 'route' ? match.route.scope : requiredScope(request.method);
  if (scope === 'read write' && caller.scope === 'read') return insufficientScope();
  if (match.found === 'nothing') return noSuchPath();
  if (match.found === 'path') return apiError(405, `The path allows ${match.allow}.`, { allow: match.allow });
  return match.route.handle(request, service, caller);
}

function toHttpReply(reply: ApiReply, usage: RateLimitUsage | undefined): Reply {
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
