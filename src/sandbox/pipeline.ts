import type { IncomingMessage } from 'node:http';
import type { Fault, FaultNote } from './faults/fault.ts';
import { suffer } from './faults/suffer.ts';
import { hasKnownHost } from './http/host.ts';
import type { Reply } from './http/reply.ts';
import { type Request, requestFrom } from './http/request.ts';
import type { Match, Router } from './http/router.ts';
import type { LoggedRequest, Subject, Trace } from './log.ts';
import type { Route } from './routes.ts';
import type { Service } from './service.ts';
import { withRedirect } from './trace.ts';

/** One of the two origins: what it serves, and how it words what goes wrong before a handler is reached. */
export interface Side<R extends Route> {
  readonly router: Router<R>;
  readonly respond: (match: Match<R>, request: Request, service: Service) => Reply | Promise<Reply>;
  readonly fail: (status: 413 | 415 | 421 | 500, request: Request, service: Service) => Reply;
  /** What the request log may say of a request, known before it is answered. */
  readonly subject: (match: Match<R>, request: Request) => Subject;
  /** Which application and login the request belongs to. */
  readonly trace: (match: Match<R>, request: Request, service: Service) => Trace | undefined;
  /** The other origin. */
  readonly elsewhere: (service: Service) => string;
}

/**
 * The one way of every request: known host, route, fault, handler, log. A handler changes the world in one synchronous
 * step, so the reply it returns marks the moment between the commit and the socket.
 */
export function answer<R extends Route>(
  side: Side<R>,
  service: Service,
  port: number,
  message: IncomingMessage,
  body: Buffer | undefined,
): Reply | Promise<Reply> {
  const request = requestFrom(message, body ?? Buffer.alloc(0));
  if (!hasKnownHost(message, port)) return finish(service, { request, subject: {} }, side.fail(421, request, service));
  const match = side.router(request.method, request.path);
  if (body === undefined) {
    return finish(service, { request, subject: {}, match }, side.fail(413, request, service));
  }
  // Nothing is unpacked here, and what is packed must not be read as it is (RFC 9110 §15.5.16).
  if (request.header('content-encoding').some((coding) => coding.trim().toLowerCase() !== 'identity')) {
    return finish(service, { request, subject: {}, match }, side.fail(415, request, service));
  }
  const placed = match.found === 'route' ? { ...request, captures: match.captures } : request;
  const subject = side.subject(match, placed);
  const trace = side.trace(match, placed, service);
  const arrival: Arrival = { request: placed, subject, match, ...(trace === undefined ? {} : { trace }) };
  const commit = (): Reply | Promise<Reply> => attempt(side, match, placed, service);
  const fault = faultOf(arrival, service);
  if (fault !== undefined) {
    return suffer(fault, {
      commit,
      settle: (reply, note) => finish(service, arrival, reply, note),
      ground: () => ({ path: placed.path, elsewhere: side.elsewhere(service), now: service.world.now() }),
      closing: service.closing,
    });
  }
  const reply = commit();
  return reply instanceof Promise
    ? reply.then((late) => finish(service, arrival, late))
    : finish(service, arrival, reply);
}

/** A request as the log needs it. */
interface Arrival {
  readonly request: Request;
  readonly subject: Subject;
  readonly match?: Match<Route>;
  readonly trace?: Trace;
}

/** The admin API meets none, because faults are cleared there. */
function faultOf({ request: { method, path }, subject, match }: Arrival, { faults }: Service): Fault | undefined {
  if (path.startsWith(ADMIN_PREFIX)) return undefined;
  const routePath = match?.found === 'route' ? match.route.path : undefined;
  return faults.take({ method, path, routePath, grantType: subject.grant_type });
}

/** What breaks in a handler ends one request, never the process. */
function attempt<R extends Route>(
  side: Side<R>,
  match: Match<R>,
  request: Request,
  service: Service,
): Reply | Promise<Reply> {
  try {
    const reply = side.respond(match, request, service);
    return reply instanceof Promise ? reply.catch(() => side.fail(500, request, service)) : reply;
  } catch {
    return side.fail(500, request, service);
  }
}

function finish(service: Service, { request, subject, match, trace }: Arrival, reply: Reply, note?: FaultNote): Reply {
  const now = new Date(service.world.now());
  const { method, path } = request;
  // The Date header tells the virtual time, because clients reckon deadlines by it.
  const dated: Reply = { ...reply, headers: { date: now.toUTCString(), ...reply.headers } };
  if (path.startsWith(ADMIN_PREFIX)) return dated;
  const entry: LoggedRequest = {
    at: now.toISOString(),
    method,
    path,
    status: reply.status,
    ...subject,
    ...(note === undefined ? {} : { ...note, delivered: false }),
  };
  const endpoint = match?.found === 'route' ? `${method} ${match.route.path}` : `${method} ${UNKNOWN}`;
  const sent = service.log.add(entry, endpoint, note?.committed === false ? trace : withRedirect(trace, reply));
  return note === undefined ? dated : { ...dated, sent };
}

const ADMIN_PREFIX = '/_sandbox/';
const UNKNOWN = '(no endpoint)';
