import { setTimeout as sleep } from 'node:timers/promises';
import type { Reply } from '../http/reply.ts';
import type { HttpRequest } from '../http/request.ts';
import type { Service } from '../service.ts';
import { errorIdOf } from '../v2/api.ts';
import { replaceAliases } from '../v2/droplet-creation.ts';
import { type ActionName, type Fault, type FaultFields, type InputAction, isInputAction } from './fault.ts';

/** A request to which a fault applies. */
export interface FaultedRequest {
  /** Checks the credentials of the request; the returned function runs the handler. */
  readonly admit: () => () => Reply | Promise<Reply>;
  /** Adds the request to the request log. */
  readonly log: (reply: Reply, note: FaultFields) => Reply;
  readonly context: () => FaultContext;
  readonly closing: AbortSignal;
}

/** Logs the request before the final delay, so that a client sees the commit in the request log before the reply is lost. */
export async function applyFault(fault: Fault, request: FaultedRequest): Promise<Reply> {
  if (isInputAction(fault.action))
    return request.log(await request.admit()(), { fault: fault.action, committed: true });
  const action = FAULT_ACTIONS[fault.action];
  if (action.commits === 'late') {
    void commitLate(fault, request);
    return DROPPED;
  }
  // When the sandbox closes, requests that are still delayed are not processed.
  if (action.pauses === 'before' && !(await pause(fault, request.closing))) return DROPPED;
  const reply = action.commits ? action.change(await request.admit()(), fault) : action.reply(fault, request.context());
  const logged = request.log(reply, { fault: fault.action, committed: action.commits });
  if (action.pauses === 'after') await pause(fault, request.closing);
  return logged;
}

/**
 * The access token is checked when the request arrives and not again after the delay, as in a server that processes requests
 * late.
 */
async function commitLate(fault: Fault, request: FaultedRequest): Promise<void> {
  const commit = request.admit();
  if (await pause(fault, request.closing))
    request.log({ ...(await commit()), ...NO_DELIVERY }, { fault: fault.action, committed: true });
}

/**
 * Delays a request in real time, because clients wait in real time; resolves with false when the sandbox closes before the end
 * of the delay.
 */
async function pause({ delay }: Fault, signal: AbortSignal): Promise<boolean> {
  if (delay === undefined) return true;
  try {
    await sleep(delay, undefined, { signal });
    return true;
  } catch {
    return false;
  }
}

const NO_DELIVERY = { deliveryFault: { kind: 'drop' } } as const;
const DROPPED: Reply = { status: 0, headers: {}, body: '', ...NO_DELIVERY };

/** The request data that the reply of a fault can contain. */
export interface FaultContext {
  readonly path: string;
  /** The other origin of the sandbox (authorization server or resource API). */
  readonly otherOrigin: string;
  /** The current time in milliseconds of the virtual clock. */
  readonly now: number;
}

/** The effect of a fault action: it changes the reply of the handler, or it replaces the handler. */
export type FaultAction =
  | {
      readonly commits: true;
      readonly pauses: 'before' | 'after' | 'never';
      readonly change: (reply: Reply, fault: Fault) => Reply;
    }
  | {
      /** The connection is closed immediately, and the handler runs after the delay. */
      readonly commits: 'late';
    }
  | {
      readonly commits: false;
      readonly pauses: 'after';
      readonly reply: (fault: Fault, context: FaultContext) => Reply;
    };

export const FAULT_ACTIONS: Readonly<Record<Exclude<ActionName, InputAction>, FaultAction>> = {
  delay: { commits: true, pauses: 'before', change: (reply) => reply },
  status: replaceReply((fault, context) => failure(fault.status ?? 500, context)),
  drop_before_commit: replaceReply(() => ({ ...NO_REPLY, deliveryFault: { kind: 'drop' } })),
  commit_then_drop: alterReply((reply) => ({ ...reply, deliveryFault: { kind: 'drop' } })),
  half_body: alterReply((reply) => ({ ...reply, deliveryFault: { kind: 'half' } })),
  bad_json: alterReply(truncateJson),
  html_502: replaceReply(() => ({ status: 502, headers: { 'content-type': 'text/html' }, body: GATEWAY_PAGE })),
  redirect_307: replaceReply((_fault, { otherOrigin, path }) => {
    return { status: 307, headers: { location: `${otherOrigin}${path}` }, body: '' };
  }),
  reset: replaceReply(() => ({ ...NO_REPLY, deliveryFault: { kind: 'reset' } })),
  slow_drip: {
    commits: true,
    pauses: 'never',
    change: (reply, { delay = DRIP_MS }) => ({ ...reply, deliveryFault: { kind: 'drip', pauseMs: delay } }),
  },
  rate_limit: replaceReply((_fault, context) => {
    const reply = failure(429, context);
    return { ...reply, headers: { ...reply.headers, ...rateLimitHeaders(context.now) } };
  }),
  commit_late: { commits: 'late' },
};

function replaceReply(reply: (fault: Fault, context: FaultContext) => Reply): FaultAction {
  return { commits: false, pauses: 'after', reply };
}

function alterReply(change: (reply: Reply) => Reply): FaultAction {
  return { commits: true, pauses: 'after', change };
}

/** Creates an error in the format of the origin to which the path belongs. */
function failure(status: number, { path }: FaultContext): Reply {
  const message = `Injected fault: status ${status}.`;
  const value = path.startsWith('/v1/')
    ? {
        error: OAUTH_ERRORS.get(status) ?? (status < 500 ? 'invalid_request' : 'server_error'),
        error_description: message,
      }
    : { id: errorIdOf(status), message };
  const isBare = status === 204 || status === 304;
  return {
    status,
    headers: isBare ? {} : { 'content-type': 'application/json' },
    body: isBare ? '' : JSON.stringify(value),
  };
}

/** A truncated JSON object or array is never valid JSON. */
function truncateJson(reply: Reply): Reply {
  const isJson = /^[{[]/.test(reply.body);
  return {
    ...reply,
    status: reply.status === 204 ? 200 : reply.status,
    headers: { ...reply.headers, 'content-type': 'application/json' },
    body: isJson ? reply.body.slice(0, Math.ceil(reply.body.length / 2)) : '{"',
  };
}

function rateLimitHeaders(now: number): Readonly<Record<string, string>> {
  return {
    'retry-after': '1',
    'ratelimit-limit': '5000',
    'ratelimit-remaining': '0',
    'ratelimit-reset': String(Math.ceil(now / 1000) + 1),
  };
}

/** The log entry of a request without a response, which has status 0. */
const NO_REPLY: Reply = { status: 0, headers: {}, body: '' };
const DRIP_MS = 10;
const GATEWAY_PAGE =
  '<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1><hr>gateway</body></html>\n';
const OAUTH_ERRORS: ReadonlyMap<number, string> = new Map([
  [401, 'invalid_client'],
  [403, 'access_denied'],
  [429, 'temporarily_unavailable'],
  [503, 'temporarily_unavailable'],
]);

/** The arguments of a request handler. */
export interface HandlerInput {
  readonly request: HttpRequest;
  readonly service: Service;
}

/** Changes the input of the handler for an action in INPUT_ACTIONS; other actions leave it unchanged. */
export function alterInput(input: HandlerInput, { action, delay = 0 }: Fault): HandlerInput {
  const { request, service } = input;
  if (action === 'normalize_attributes')
    return { service, request: { ...request, body: replaceAliases(request.body) } };
  if (action === 'lag_lists')
    return { request, service: { ...service, settings: { ...service.settings, listLagMs: delay } } };
  return input;
}
