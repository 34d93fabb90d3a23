import { setTimeout as sleep } from 'node:timers/promises';
import type { SandboxHandlerContext } from '../handler-context.ts';
import type { SandboxHttpReply } from '../http/reply.ts';
import type { SandboxHttpRequest } from '../http/request.ts';
import { getApiErrorIdOfStatus } from '../v2/api.ts';
import { replaceDropletAliasesInRequestBody } from '../v2/droplet-creation.ts';
import {
  type Fault,
  type FaultActionName,
  type FaultLogFields,
  type HandlerInputAlteringFaultActionName,
  isHandlerInputAlteringFaultAction,
} from './fault.ts';

/** A request to which a fault applies. */
export interface FaultedRequest {
  /** Checks the credentials of the request; the returned function runs the handler. */
  readonly admit: () => () => SandboxHttpReply | Promise<SandboxHttpReply>;
  /** Adds the request to the request log. */
  readonly log: (reply: SandboxHttpReply, note: FaultLogFields) => SandboxHttpReply;
  readonly context: () => FaultContext;
  readonly closing: AbortSignal;
}

/** Logs the request before the final delay, so that a client sees the commit in the request log before the reply is lost. */
export async function applyFault(fault: Fault, request: FaultedRequest): Promise<SandboxHttpReply> {
  if (isHandlerInputAlteringFaultAction(fault.action))
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
const DROPPED: SandboxHttpReply = { status: 0, headers: {}, body: '', ...NO_DELIVERY };

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
      readonly change: (reply: SandboxHttpReply, fault: Fault) => SandboxHttpReply;
    }
  | {
      /** The connection is closed immediately, and the handler runs after the delay. */
      readonly commits: 'late';
    }
  | {
      readonly commits: false;
      readonly pauses: 'after';
      readonly reply: (fault: Fault, context: FaultContext) => SandboxHttpReply;
    };

export const FAULT_ACTIONS: Readonly<
  Record<Exclude<FaultActionName, HandlerInputAlteringFaultActionName>, FaultAction>
> = {
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

function replaceReply(reply: (fault: Fault, context: FaultContext) => SandboxHttpReply): FaultAction {
  return { commits: false, pauses: 'after', reply };
}

function alterReply(change: (reply: SandboxHttpReply) => SandboxHttpReply): FaultAction {
  return { commits: true, pauses: 'after', change };
}

/** Creates an error in the format of the origin to which the path belongs. */
function failure(status: number, { path }: FaultContext): SandboxHttpReply {
  const message = `Injected fault: status ${status}.`;
  const value = path.startsWith('/v1/')
    ? {
        error: OAUTH_ERRORS.get(status) ?? (status < 500 ? 'invalid_request' : 'server_error'),
        error_description: message,
      }
    : { id: getApiErrorIdOfStatus(status), message };
  const isBare = status === 204 || status === 304;
  return {
    status,
    headers: isBare ? {} : { 'content-type': 'application/json' },
    body: isBare ? '' : JSON.stringify(value),
  };
}

/** A truncated JSON object or array is never valid JSON. */
function truncateJson(reply: SandboxHttpReply): SandboxHttpReply {
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
const NO_REPLY: SandboxHttpReply = { status: 0, headers: {}, body: '' };
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
export interface SandboxHandlerInput {
  readonly request: SandboxHttpRequest;
  readonly service: SandboxHandlerContext;
}

/** Changes the input of the handler for an action in HANDLER_INPUT_ALTERING_FAULT_ACTION_NAMES; other actions leave it unchanged. */
export function applyHandlerInputAlteringFault(
  input: SandboxHandlerInput,
  { action, delay = 0 }: Fault,
): SandboxHandlerInput {
  const { request, service } = input;
  if (action === 'normalize_attributes')
    return { service, request: { ...request, body: replaceDropletAliasesInRequestBody(request.body) } };
  if (action === 'lag_lists')
    return { request, service: { ...service, settings: { ...service.settings, listLagMs: delay } } };
  return input;
}
