import { randomUUID } from 'node:crypto';
import type { Reply } from '../http/reply.ts';
import type { Request } from '../http/request.ts';
import { createRouter, type Match } from '../http/router.ts';
import { hintOf } from '../log.ts';
import type { Side } from '../pipeline.ts';
import { type ApiRoute, ROUTES } from '../routes.ts';
import type { Service } from '../service.ts';
import { traceOfMandate } from '../trace.ts';
import type { Answer } from '../v2/answer.ts';
import { bearerOf, type Caller, identify, scopeOf } from '../v2/gate.ts';
import { forbidden, notFound, problem } from '../v2/problems.ts';
import { type Ticket, ticketHeaders } from '../v2/rate-limit.ts';

/** Older clients of the API write `/v2/droplets/` wherever they write `/v2/droplets`. */
const routed = createRouter(ROUTES.api);

/** The origin of the resource API. The caller is judged before the path, so that a refused one learns nothing by probing. */
export const apiSide: Side<ApiRoute> = {
  router: (method, path) => routed(method, path.replace(/(?<=[^/])\/$/, '')),
  respond: (match, request, service) => {
    const identity = identify(request, service);
    const known = identity.known ? identity.caller.accessToken : 'anonymous';
    const ticket = service.limiter.take(known, service.world.now());
    if (ticket.retryAfterMs !== undefined) return written(problem(429, 'API rate limit exceeded.'), ticket);
    if (!identity.known) return written(identity.refusal, ticket);
    return written(respond(match, request, service, identity.caller), ticket);
  },
  fail: (status, _request, service) => {
    return written(problem(status, FAILURES[status]), service.limiter.take('anonymous', service.world.now()));
  },
  trace: (_match, request, { world }) => traceOfMandate(world.pair(bearerOf(request) ?? '')),
  elsewhere: ({ ready }) => ready.auth_url,
  subject: (_match, request) => {
    const hint = hintOf(bearerOf(request) ?? '');
    return hint === undefined ? {} : { token_hint: hint };
  },
};

function respond(match: Match<ApiRoute>, request: Request, service: Service, caller: Caller): Answer {
  const needed = match.found === 'route' ? match.route.scope : scopeOf(request.method);
  if (needed === 'read write' && caller.scope === 'read') return forbidden();
  if (match.found === 'nothing') return notFound();
  if (match.found === 'path') return problem(405, `This path takes ${match.allow}.`, { allow: match.allow });
  return match.route.handle(request, service, caller);
}

function written(answer: Answer, ticket: Ticket): Reply {
  const id = randomUUID();
  const value = answer.status >= 400 ? { ...answer.value, request_id: id } : answer.value;
  return {
    status: answer.status,
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-request-id': id,
      ...ticketHeaders(ticket),
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
