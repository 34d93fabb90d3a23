import { adminError, isAdminRequest } from '../admin/access.ts';
import { emptyReply, type HttpReply } from '../http/http-reply.ts';
import type { HttpRequest } from '../http/http-request.ts';
import { createRouter, type RouteMatch } from '../http/router.ts';
import { oauthError } from '../oauth/oauth-errors.ts';
import { renderErrorPage } from '../panel/error-page.ts';
import { findPanelSession, redirectToSignIn } from '../panel/panel-session.ts';
import type { OriginServer } from '../request-pipeline.ts';
import { type AuthRoute, ROUTES } from '../routes.ts';
import type { SandboxService } from '../service.ts';

/** The origin of authorization server, control panel and admin API. */
export const authServer: OriginServer<AuthRoute> = {
  router: createRouter(ROUTES.auth),
  respond: (match, request, service) => {
    const reply = respond(match, request, service);
    return reply instanceof Promise ? reply.then(withCommonHeaders) : withCommonHeaders(reply);
  },
  logFields: (match, request) => (match.found === 'route' ? (match.route.subject?.(request) ?? {}) : {}),
  trace: (match, request, service) => (match.found === 'route' ? match.route.trace?.(request, service) : undefined),
  otherOrigin: ({ ready }) => ready.base_url,
  errorReply: (status, request) => withCommonHeaders(problem(request, status, FAILURES[status])),
};

function respond(
  match: RouteMatch<AuthRoute>,
  request: HttpRequest,
  service: SandboxService,
): HttpReply | Promise<HttpReply> {
  if (request.path.startsWith('/_sandbox/') && !isAdminRequest(request, service)) return adminError(403, FORBIDDEN);
  if (match.found === 'nothing') return problem(request, 404, 'There is nothing at this address.');
  if (match.found === 'path') {
    const reply = problem(request, 405, `This address takes ${match.allow}.`);
    return { ...reply, headers: { ...reply.headers, allow: match.allow } };
  }
  const { route } = match;
  if (route.scope !== 'session') return route.handle(request, service);
  const visit = findPanelSession(request, service);
  return visit === undefined ? redirectToSignIn(request) : route.handle(request, service, visit);
}

/** Each part of the origin has its own words for what went wrong. */
function problem(request: HttpRequest, status: number, sentence: string): HttpReply {
  if (request.method === 'HEAD') return emptyReply(status);
  if (request.path.startsWith('/_sandbox/')) return adminError(status, sentence);
  if (request.path.startsWith('/v')) return oauthError(status, 'invalid_request', sentence);
  return renderErrorPage(status, sentence);
}

function withCommonHeaders(reply: HttpReply): HttpReply {
  return { ...reply, headers: { ...COMMON_HEADERS, ...reply.headers } };
}

const FORBIDDEN = 'The admin API takes the admin token in X-Admin-Token and its own Host only.';
const FAILURES = {
  413: 'The request is too large.',
  415: 'The request body must not be compressed.',
  421: 'This server answers to its loopback address only.',
  500: 'The sandbox has a fault; the request was not carried out.',
};
const COMMON_HEADERS = {
  'cache-control': 'no-store',
  pragma: 'no-cache',
  'x-content-type-options': 'nosniff',
  // Not no-referrer: with that a browser sends `Origin: null` from our own forms, and they could not be told from foreign ones.
  'referrer-policy': 'same-origin',
};
