import type { HttpReply } from '../http/http-reply.ts';
import { apiErrorId } from '../v2/api-errors.ts';
import type { Fault, FaultActionName } from './fault.ts';

/** Where a fault strikes, as far as its answer tells of it. */
export interface FaultContext {
  readonly path: string;
  /** The other origin of the sandbox. */
  readonly otherOrigin: string;
  /** Milliseconds of the virtual clock. */
  readonly now: number;
}

/** What an action does: it spoils the true answer of a request that was carried out, or stands in for it. */
export type FaultAction =
  | {
      readonly commits: true;
      readonly pauses: 'before' | 'after' | 'never';
      readonly spoil: (answer: HttpReply, fault: Fault) => HttpReply;
    }
  | {
      readonly commits: false;
      readonly pauses: 'after';
      readonly answer: (fault: Fault, ground: FaultContext) => HttpReply;
    };

export const FAULT_ACTIONS: Readonly<Record<FaultActionName, FaultAction>> = {
  delay: { commits: true, pauses: 'before', spoil: (answer) => answer },
  status: replaceReply((fault, ground) => failure(fault.status ?? 500, ground)),
  drop_before_commit: replaceReply(() => ({ ...NO_REPLY, deliveryFault: { kind: 'drop' } })),
  commit_then_drop: alterReply((answer) => ({ ...answer, deliveryFault: { kind: 'drop' } })),
  half_body: alterReply((answer) => ({ ...answer, deliveryFault: { kind: 'half' } })),
  bad_json: alterReply(truncateJson),
  html_502: replaceReply(() => ({ status: 502, headers: { 'content-type': 'text/html' }, body: GATEWAY_PAGE })),
  redirect_307: replaceReply((_fault, { otherOrigin: elsewhere, path }) => {
    return { status: 307, headers: { location: `${elsewhere}${path}` }, body: '' };
  }),
  reset: replaceReply(() => ({ ...NO_REPLY, deliveryFault: { kind: 'reset' } })),
  slow_drip: {
    commits: true,
    pauses: 'never',
    spoil: (answer, { delay = DRIP_MS }) => ({ ...answer, deliveryFault: { kind: 'drip', pauseMs: delay } }),
  },
  rate_limit: replaceReply((_fault, ground) => {
    const answer = failure(429, ground);
    return { ...answer, headers: { ...answer.headers, ...exhausted(ground.now) } };
  }),
};

function replaceReply(answer: (fault: Fault, ground: FaultContext) => HttpReply): FaultAction {
  return { commits: false, pauses: 'after', answer };
}

function alterReply(spoil: (answer: HttpReply) => HttpReply): FaultAction {
  return { commits: true, pauses: 'after', spoil };
}

/** In the words of the server that would have answered. */
function failure(status: number, { path }: FaultContext): HttpReply {
  const message = `A fault of the sandbox: ${status}.`;
  const value = path.startsWith('/v1/')
    ? {
        error: OAUTH_ERRORS.get(status) ?? (status < 500 ? 'invalid_request' : 'server_error'),
        error_description: message,
      }
    : { id: apiErrorId(status), message };
  const isBare = status === 204 || status === 304;
  return {
    status,
    headers: isBare ? {} : { 'content-type': 'application/json' },
    body: isBare ? '' : JSON.stringify(value),
  };
}

/** A prefix of a JSON object or list is never JSON. */
function truncateJson(answer: HttpReply): HttpReply {
  const isJson = /^[{[]/.test(answer.body);
  return {
    ...answer,
    status: answer.status === 204 ? 200 : answer.status,
    headers: { ...answer.headers, 'content-type': 'application/json' },
    body: isJson ? answer.body.slice(0, Math.ceil(answer.body.length / 2)) : '{"',
  };
}

function exhausted(now: number): Readonly<Record<string, string>> {
  return {
    'retry-after': '1',
    'ratelimit-limit': '5000',
    'ratelimit-remaining': '0',
    'ratelimit-reset': String(Math.ceil(now / 1000) + 1),
  };
}

/** No answer at all; the request log shows the status 0. */
const NO_REPLY: HttpReply = { status: 0, headers: {}, body: '' };
const DRIP_MS = 10;
const GATEWAY_PAGE =
  '<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1><hr>gateway</body></html>\n';
const OAUTH_ERRORS: ReadonlyMap<number, string> = new Map([
  [401, 'invalid_client'],
  [403, 'access_denied'],
  [429, 'temporarily_unavailable'],
  [503, 'temporarily_unavailable'],
]);
