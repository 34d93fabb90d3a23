import { adminProblem, isAdmin } from '../admin/gate.ts';
import { empty, type Reply } from '../http/reply.ts';
import type { Request } from '../http/request.ts';
import { createRouter, type Match } from '../http/router.ts';
import { oauthError } from '../oauth/errors.ts';
import { errorPage } from '../panel/error-page.ts';
import { signInFirst, visitOf } from '../panel/session.ts';
import type { Side } from '../pipeline.ts';
import { type AuthRoute, ROUTES } from '../routes.ts';
import type { Service } from '../service.ts';

/** The origin of authorization server, control panel and admin API. */
export const authSide: Side<AuthRoute> = {
  router: createRouter(ROUTES.auth),
  respond: (match, request, service) => {
    const reply = respond(match, request, service);
    return reply instanceof Promise ? reply.then(withCommonHeaders) : withCommonHeaders(reply);
  },
  subject: (match, request) => (match.found === 'route' ? (match.route.subject?.(request) ?? {}) : {}),
  trace: (match, request, service) => (match.found === 'route' ? match.route.trace?.(request, service) : undefined),
  elsewhere: ({ ready }) => ready.base_url,
  fail: (status, request) => withCommonHeaders(problem(request, status, FAILURES[status])),
};

function respond(match: Match<AuthRoute>, request: Request, service: Service): Reply | Promise<Reply> {
  if (request.path.startsWith('/_sandbox/') && !isAdmin(request, service)) return adminProblem(403, FORBIDDEN);
  if (match.found === 'nothing') return problem(request, 404, 'There is nothing at this address.');
  if (match.found === 'path') {
    const reply = problem(request, 405, `This address takes ${match.allow}.`);
    return { ...reply, headers: { ...reply.headers, allow: match.allow } };
  }
  const { route } = match;
  if (route.scope !== 'session') return route.handle(request, service);
  const visit = visitOf(request, service);
  return visit === undefined ? signInFirst(request) : route.handle(request, service, visit);
}

/** Each part of the origin has its own words for what went wrong. */
function problem(request: Request, status: number, sentence: string): Reply {
  if (request.method === 'HEAD') return empty(status);
  if (request.path.startsWith('/_sandbox/')) return adminProblem(status, sentence);
  if (request.path.startsWith('/v')) return oauthError(status, 'invalid_request', sentence);
  return errorPage(status, sentence);
}

function withCommonHeaders(reply: Reply): Reply {
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
