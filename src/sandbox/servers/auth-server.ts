import {
  buildAdminErrorReply,
  isAuthenticatedAdminRequest,
  mayUsePanel,
} from '../admin/is-authenticated-admin-request.ts';
import type { SandboxOriginHandlers } from '../handle-sandbox-request.ts';
import type { SandboxHandlerContext } from '../handler-context.ts';
import { emptyReply, type SandboxHttpReply } from '../http/http-reply.ts';
import type { SandboxHttpRequest } from '../http/http-request.ts';
import { createRouter, type RouteMatch } from '../http/router.ts';
import { buildOAuthErrorReply } from '../oauth/oauth-errors.ts';
import { renderErrorPage } from '../panel/error-page.ts';
import { findPanelSession, redirectToSignIn } from '../panel/panel-session.ts';
import { type AuthServerRoute, SANDBOX_ROUTES } from '../routes.ts';

/** Serves the origin of the authorization server, the control panel and the admin API. */
export const sandboxAuthOriginHandlers: SandboxOriginHandlers<AuthServerRoute> = {
  router: createRouter(SANDBOX_ROUTES.auth),
  admit: (match, request, service) => () => {
    const reply = respond(match, request, service);
    return reply instanceof Promise ? reply.then(withCommonHeaders) : withCommonHeaders(reply);
  },
  logFields: (match, request) => (match.found === 'route' ? (match.route.logFields?.(request) ?? {}) : {}),
  trace: (match, request, service) => (match.found === 'route' ? match.route.trace?.(request, service) : undefined),
  // A page revokes the token that it received in the implicit flow. The token endpoint needs the client secret, which no page has.
  allowsCrossOrigin: (path) => path === '/v1/oauth/revoke',
  otherOrigin: ({ ready }) => ready.base_url,
  errorReply: (status, message, request) => withCommonHeaders(errorReply(request, status, message)),
};

function respond(
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
