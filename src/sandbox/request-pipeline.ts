import type { IncomingMessage } from 'node:http';
import { applyFault } from './faults/apply-fault.ts';
import type { Fault, FaultOutcome } from './faults/fault.ts';
import { hasLoopbackHost } from './http/host-header.ts';
import type { HttpReply } from './http/http-reply.ts';
import { type HttpRequest, readRequest } from './http/http-request.ts';
import type { RouteMatch, Router } from './http/router.ts';
import { addRedirect } from './login-trace.ts';
import type { LogFields, LoggedRequest, LoginTrace } from './request-log.ts';
import type { Route } from './routes.ts';
import type { SandboxService } from './service.ts';

/** One of the two origins: what it serves, and how it words what goes wrong before a handler is reached. */
export interface OriginServer<R extends Route> {
  readonly router: Router<R>;
  readonly respond: (
    match: RouteMatch<R>,
    request: HttpRequest,
    service: SandboxService,
  ) => HttpReply | Promise<HttpReply>;
  readonly errorReply: (status: 413 | 415 | 421 | 500, request: HttpRequest, service: SandboxService) => HttpReply;
  /** What the request log may say of a request, known before it is answered. */
  readonly logFields: (match: RouteMatch<R>, request: HttpRequest) => LogFields;
  /** Which application and login the request belongs to. */
  readonly trace: (match: RouteMatch<R>, request: HttpRequest, service: SandboxService) => LoginTrace | undefined;
  /** The other origin. */
  readonly otherOrigin: (service: SandboxService) => string;
}

/**
 * The one way of every request: known host, route, fault, handler, log. A handler changes the world in one synchronous
 * step, so the reply it returns marks the moment between the commit and the socket.
 */
export function handleRequest<R extends Route>(
  side: OriginServer<R>,
  service: SandboxService,
  port: number,
  message: IncomingMessage,
  body: Buffer | undefined,
): HttpReply | Promise<HttpReply> {
  const request = readRequest(message, body ?? Buffer.alloc(0));
  if (!hasLoopbackHost(message, port))
    return logReply(service, { request, subject: {} }, side.errorReply(421, request, service));
  const match = side.router(request.method, request.path);
  if (body === undefined) {
    return logReply(service, { request, subject: {}, match }, side.errorReply(413, request, service));
  }
  // Nothing is unpacked here, and what is packed must not be read as it is (RFC 9110 §15.5.16).
  if (request.header('content-encoding').some((coding) => coding.trim().toLowerCase() !== 'identity')) {
    return logReply(service, { request, subject: {}, match }, side.errorReply(415, request, service));
  }
  const placed = match.found === 'route' ? { ...request, captures: match.captures } : request;
  const subject = side.logFields(match, placed);
  const trace = side.trace(match, placed, service);
  const arrival: ReceivedRequest = { request: placed, subject, match, ...(trace === undefined ? {} : { trace }) };
  const commit = (): HttpReply | Promise<HttpReply> => callHandler(side, match, placed, service);
  const fault = faultOf(arrival, service);
  if (fault !== undefined) {
    return applyFault(fault, {
      commit,
      log: (reply, note) => logReply(service, arrival, reply, note),
      context: () => ({ path: placed.path, otherOrigin: side.otherOrigin(service), now: service.world.now() }),
      closing: service.closing,
    });
  }
  const reply = commit();
  return reply instanceof Promise
    ? reply.then((late) => logReply(service, arrival, late))
    : logReply(service, arrival, reply);
}

/** A request as the log needs it. */
interface ReceivedRequest {
  readonly request: HttpRequest;
  readonly subject: LogFields;
  readonly match?: RouteMatch<Route>;
  readonly trace?: LoginTrace;
}

/** The admin API meets none, because faults are cleared there. */
function faultOf(
  { request: { method, path }, subject, match }: ReceivedRequest,
  { faults }: SandboxService,
): Fault | undefined {
  if (path.startsWith(ADMIN_PREFIX)) return undefined;
  const routePath = match?.found === 'route' ? match.route.path : undefined;
  return faults.takeFault({ method, path, routePath, grantType: subject.grant_type });
}

/** What breaks in a handler ends one request, never the process. */
function callHandler<R extends Route>(
  side: OriginServer<R>,
  match: RouteMatch<R>,
  request: HttpRequest,
  service: SandboxService,
): HttpReply | Promise<HttpReply> {
  try {
    const reply = side.respond(match, request, service);
    return reply instanceof Promise ? reply.catch(() => side.errorReply(500, request, service)) : reply;
  } catch {
    return side.errorReply(500, request, service);
  }
}

function logReply(
  service: SandboxService,
  { request, subject, match, trace }: ReceivedRequest,
  reply: HttpReply,
  note?: FaultOutcome,
): HttpReply {
  const now = new Date(service.world.now());
  const { method, path } = request;
  // The Date header tells the virtual time, because clients reckon deadlines by it.
  const dated: HttpReply = { ...reply, headers: { date: now.toUTCString(), ...reply.headers } };
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
  const sent = service.log.add(entry, endpoint, note?.committed === false ? trace : addRedirect(trace, reply));
  return note === undefined ? dated : { ...dated, sent };
}

const ADMIN_PREFIX = '/_sandbox/';
const UNKNOWN = '(no endpoint)';
