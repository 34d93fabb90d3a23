import { randomUUID } from 'node:crypto';
import type { HttpReply } from '../http/http-reply.ts';
import type { HttpRequest } from '../http/http-request.ts';
import { createRouter, type RouteMatch } from '../http/router.ts';
import { traceGrant } from '../login-trace.ts';
import { getTokenHint } from '../request-log.ts';
import type { OriginServer } from '../request-pipeline.ts';
import { type ApiRoute, ROUTES } from '../routes.ts';
import type { SandboxService } from '../service.ts';
import { type ApiCaller, authenticateCaller, readBearerToken, requiredScope } from '../v2/api-caller.ts';
import { apiErrorReply, forbiddenReply, notFoundReply } from '../v2/api-errors.ts';
import type { ApiReply } from '../v2/api-reply.ts';
import { type RateLimitUsage, renderRateLimitHeaders } from '../v2/rate-limit.ts';

/** Older clients of the API write `/v2/droplets/` wherever they write `/v2/droplets`. */
const routed = createRouter(ROUTES.api);

/** The origin of the resource API. The caller is judged before the path, so that a refused one learns nothing by probing. */
export const apiServer: OriginServer<ApiRoute> = {
  router: (method, path) => routed(method, path.replace(/(?<=[^/])\/$/, '')),
  respond: (match, request, service) => {
    const identity = authenticateCaller(request, service);
    const known = identity.known ? identity.caller.accessToken : 'anonymous';
    const ticket = service.limiter.countRequest(known, service.world.now());
    if (ticket.retryAfterMs !== undefined) return written(apiErrorReply(429, 'API rate limit exceeded.'), ticket);
    if (!identity.known) return written(identity.refusal, ticket);
    return written(respond(match, request, service, identity.caller), ticket);
  },
  errorReply: (status, _request, service) => {
    return written(
      apiErrorReply(status, FAILURES[status]),
      service.limiter.countRequest('anonymous', service.world.now()),
    );
  },
  trace: (_match, request, { world }) => traceGrant(world.pair(readBearerToken(request) ?? '')),
  otherOrigin: ({ ready }) => ready.auth_url,
  logFields: (_match, request) => {
    const hint = getTokenHint(readBearerToken(request) ?? '');
    return hint === undefined ? {} : { token_hint: hint };
  },
};

function respond(
  match: RouteMatch<ApiRoute>,
  request: HttpRequest,
  service: SandboxService,
  caller: ApiCaller,
): ApiReply {
  const needed = match.found === 'route' ? match.route.scope : requiredScope(request.method);
  if (needed === 'read write' && caller.scope === 'read') return forbiddenReply();
  if (match.found === 'nothing') return notFoundReply();
  if (match.found === 'path') return apiErrorReply(405, `This path takes ${match.allow}.`, { allow: match.allow });
  return match.route.handle(request, service, caller);
}

function written(answer: ApiReply, ticket: RateLimitUsage): HttpReply {
  const id = randomUUID();
  const value = answer.status >= 400 ? { ...answer.value, request_id: id } : answer.value;
  return {
    status: answer.status,
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-request-id': id,
      ...renderRateLimitHeaders(ticket),
      ...answer.headers,
    },
    body: answer.json ?? (value === undefined ? '' : JSON.stringify(value)),
  };
}

const FAILURES = {
  413: 'The request is too large.',
  415: 'The request body must not be compressed.',
  421: 'This server answers to its loopback address only.',
  500: 'The sandbox has a fault; the request was not carried out.',
};
