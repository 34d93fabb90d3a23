import type { IncomingMessage } from 'node:http';
import { alterInput, applyFault } from './faults/apply.ts';
import { type Fault, type FaultFields, isInputAction } from './faults/fault.ts';
import { hasOwnHost, type ServerOrigin } from './http/origin.ts';
import { CORS_HEADERS, isCorsPreflight, jsonReply, PREFLIGHT_REPLY, type Reply } from './http/reply.ts';
import { type HttpRequest, parseRequest } from './http/request.ts';
import { createRouter, type RouteMatch, type Router } from './http/router.ts';
import { addRedirect } from './login-timeline.ts';
import { type LogFields, type LoginCorrelation, redactRequest } from './request-log.ts';
import { SANDBOX_ROUTES, type SandboxRoute } from './routes.ts';
import type { Service } from './service.ts';

/** The functions with which the pipeline answers requests to one origin: the authorization server or the resource API. */
export interface OriginHandlers<R extends SandboxRoute> {
  readonly router: Router<R>;
  /**
   * Checks the credentials of the request. The returned function processes the request and creates the reply, also when no
   * route matches.
   */
  readonly admit: (match: RouteMatch<R>, request: HttpRequest, service: Service) => RequestProcessor;
  /** Creates an error reply in the error format of the origin. */
  readonly errorReply: (status: RejectionStatus, message: string, request: HttpRequest, service: Service) => Reply;
  readonly logFields: (match: RouteMatch<R>, request: HttpRequest) => LogFields;
  readonly trace: (match: RouteMatch<R>, request: HttpRequest, service: Service) => LoginCorrelation | undefined;
  /**
   * Whether pages of every origin may send requests to the path and read the responses (CORS). No such path may depend on
   * cookies or on the client secret.
   */
  readonly allowsCrossOrigin: (path: string) => boolean;
  /** The URL of the other origin (authorization server or resource API). */
  readonly otherOrigin: (service: Service) => string;
}

const routeOfBothOrigins = createRouter(SANDBOX_ROUTES.both);

/** Processes a request and returns its reply. */
export type RequestProcessor = () => Reply | Promise<Reply>;

export type RejectionStatus = keyof typeof ERRORS;

const ERRORS = {
  413: 'The request is too large.',
  415: 'The request body must not be compressed.',
  421: 'The Host header names another server.',
  500: 'The sandbox failed. The request was not carried out.',
} as const;

/**
 * Processes every request in the same order: Host header, route, body size and encoding, CORS preflight, fault, handler, log.
 * A handler changes the state of the sandbox in one synchronous step, so its reply exists after the change and before the
 * delivery.
 */
export function handleRequest<R extends SandboxRoute>(
  server: OriginHandlers<R>,
  service: Service,
  names: ServerOrigin,
  message: IncomingMessage,
  body: Buffer | undefined,
): Reply | Promise<Reply> {
  const request = parseRequest(
    message,
    body ?? Buffer.alloc(0),
    names.origin.startsWith('https:') ? 'https' : 'http',
    names.origin === names.localOrigin ? undefined : names.origin,
  );
  const shared = routeOfBothOrigins(request.method, request.path);
  if (shared.found === 'route') return shared.route.handle();
  if (shared.found === 'path') {
    const message = `The path allows ${shared.allow}.`;
    return jsonReply(405, { id: 'method_not_allowed', message }, { allow: shared.allow });
  }
  const allowsCrossOrigin = server.allowsCrossOrigin(request.path);
  const reject = (status: RejectionStatus, match?: RouteMatch<R>): Reply => {
    const received = { request, logFields: {}, ...(match === undefined ? {} : { match, allowsCrossOrigin }) };
    return logReply(service, received, server.errorReply(status, ERRORS[status], request, service));
  };
  if (!hasOwnHost(message, names)) return reject(421);
  const match = server.router(request.method, request.path);
  if (body === undefined) return reject(413, match);
  // Compressed request bodies are refused: they are not decompressed, and must not be read as plain text (RFC 9110 §15.5.16).
  const isEncoded = request.header('content-encoding').some((coding) => coding.trim().toLowerCase() !== 'identity');
  if (isEncoded) return reject(415, match);
  // Browsers send preflight requests by themselves, so that faults and rate limits must not count them.
  if (allowsCrossOrigin && isCorsPreflight(request)) {
    const received = { request, logFields: {}, match, allowsCrossOrigin, isPreflight: true };
    return logReply(service, received, PREFLIGHT_REPLY);
  }

  const routed = match.found === 'route' ? { ...request, captures: match.captures } : request;
  const trace = server.trace(match, routed, service);
  const received: ReceivedRequest = {
    request: routed,
    logFields: server.logFields(match, routed),
    match,
    allowsCrossOrigin,
    ...(trace === undefined ? {} : { trace }),
  };
  const faults = takeFaults(received, service);
  const fault = faults.find(({ action }) => !isInputAction(action)) ?? faults[0];
  if (fault !== undefined) {
    return applyFault(fault, {
      admit: () => {
        const changed = faults.reduce(alterInput, { request: routed, service });
        return admitSafely(server, match, changed.request, changed.service);
      },
      log: (reply, outcome) => logReply(service, received, reply, outcome),
      context: () => ({ path: routed.path, otherOrigin: server.otherOrigin(service), now: service.world.now() }),
      closing: service.closing,
    });
  }
  const reply = admitSafely(server, match, routed, service)();
  return reply instanceof Promise
    ? reply.then((settled) => logReply(service, received, settled))
    : logReply(service, received, reply);
}

interface ReceivedRequest {
  readonly request: HttpRequest;
  readonly logFields: LogFields;
  /** Absent for a request with the Host header of another server. */
  readonly match?: RouteMatch<SandboxRoute>;
  readonly allowsCrossOrigin?: boolean;
  readonly isPreflight?: boolean;
  readonly trace?: LoginCorrelation;
}

/** Faults never apply to the admin API, because the admin API is used to remove faults. */
function takeFaults(
  { request: { method, path }, logFields, match }: ReceivedRequest,
  { faults }: Service,
): readonly Fault[] {
  if (path.startsWith(ADMIN_PREFIX)) return [];
  const routePath = match?.found === 'route' ? match.route.path : undefined;
  return faults.takeFaults({ method, path, routePath, grantType: logFields.grant_type });
}

/** An exception in a handler gives its request status 500 and does not end the process. */
function admitSafely<R extends SandboxRoute>(
  server: OriginHandlers<R>,
  match: RouteMatch<R>,
  request: HttpRequest,
  service: Service,
): RequestProcessor {
  const failed = (): Reply => server.errorReply(500, ERRORS[500], request, service);
  try {
    const handling = server.admit(match, request, service);
    return () => {
      try {
        const reply = handling();
        return reply instanceof Promise ? reply.catch(failed) : reply;
      } catch {
        return failed();
      }
    };
  } catch {
    return failed;
  }
}

function logReply(
  service: Service,
  { request, logFields, match, trace, allowsCrossOrigin, isPreflight }: ReceivedRequest,
  reply: Reply,
  outcome?: FaultFields,
): Reply {
  const now = new Date(service.world.now());
  const { method, path } = request;
  // The Date header contains the virtual time, because clients compute deadlines from it.
  const headers = { date: now.toUTCString(), ...(allowsCrossOrigin === true ? CORS_HEADERS : {}), ...reply.headers };
  const completed: Reply = { ...reply, headers };
  if (path.startsWith(ADMIN_PREFIX)) return completed;
  const entry = redactRequest(
    {
      at: now.toISOString(),
      method,
      path,
      status: reply.status,
      ...logFields,
      ...(outcome === undefined ? {} : { ...outcome, delivered: false }),
    },
    (clientId) => service.world.registry.application(clientId) !== undefined,
  );
  const unrouted = isPreflight === true ? PREFLIGHT : NO_ENDPOINT;
  const endpoint = `${method} ${match?.found === 'route' ? match.route.path : unrouted}`;
  const sent = service.log.add(entry, endpoint, outcome?.committed === false ? trace : addRedirect(trace, reply));
  return outcome === undefined ? completed : { ...completed, sent };
}

const ADMIN_PREFIX = '/_sandbox/';
const NO_ENDPOINT = '(no endpoint)';
const PREFLIGHT = '(CORS preflight)';
