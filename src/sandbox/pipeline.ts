import type { IncomingMessage } from 'node:http';
import { hasKnownHost } from './http/host.ts';
import type { Reply } from './http/reply.ts';
import { type Request, requestFrom } from './http/request.ts';
import type { Match, Router } from './http/router.ts';
import type { LoggedRequest, Subject } from './log.ts';
import type { Route } from './routes.ts';
import type { Service } from './service.ts';

/** One of the two origins: what it serves, and how it words what goes wrong before a handler is reached. */
export interface Side<R extends Route> {
  readonly router: Router<R>;
  readonly respond: (match: Match<R>, request: Request, service: Service) => Reply | Promise<Reply>;
  readonly fail: (status: 413 | 421 | 500, request: Request, service: Service) => Reply;
  /** What the request log may say of a request, known before it is answered. */
  readonly subject: (match: Match<R>, request: Request) => Subject;
}

/**
 * The one way of every request: known host, route, handler, log. A handler changes the world in one synchronous step,
 * so the reply it returns marks the moment between the commit and the socket.
 */
export function answer<R extends Route>(
  side: Side<R>,
  service: Service,
  port: number,
  message: IncomingMessage,
  body: Buffer | undefined,
): Reply | Promise<Reply> {
  const request = requestFrom(message, body ?? Buffer.alloc(0));
  if (!hasKnownHost(message, port)) return finish(service, request, {}, side.fail(421, request, service));
  const match = side.router(request.method, request.path);
  if (body === undefined) return finish(service, request, {}, side.fail(413, request, service), match);
  const placed = match.found === 'route' ? { ...request, captures: match.captures } : request;
  const subject = side.subject(match, placed);
  const reply = attempt(side, match, placed, service);
  if (!(reply instanceof Promise)) return finish(service, placed, subject, reply, match);
  return reply
    .catch(() => side.fail(500, placed, service))
    .then((late) => finish(service, placed, subject, late, match));
}

/** A fault in a handler ends one request, never the process. */
function attempt<R extends Route>(
  side: Side<R>,
  match: Match<R>,
  request: Request,
  service: Service,
): Reply | Promise<Reply> {
  try {
    return side.respond(match, request, service);
  } catch {
    return side.fail(500, request, service);
  }
}

function finish(service: Service, request: Request, subject: Subject, reply: Reply, match?: Match<Route>): Reply {
  const now = new Date(service.world.now());
  const { method, path } = request;
  if (!path.startsWith(ADMIN_PREFIX)) {
    const entry: LoggedRequest = { at: now.toISOString(), method, path, status: reply.status, ...subject };
    service.log.add(entry, match?.found === 'route' ? `${method} ${match.route.path}` : `${method} ${UNKNOWN}`);
  }
  // The Date header tells the virtual time, because clients reckon deadlines by it.
  return { ...reply, headers: { date: now.toUTCString(), ...reply.headers } };
}

const ADMIN_PREFIX = '/_sandbox/';
const UNKNOWN = '(no endpoint)';
