import { CliError } from '../errors.ts';
import { parseExactJson } from '../json.ts';
import { type BufferedBody, bufferBody } from '../platform/buffered-body.ts';
import type { Clock } from '../platform/host.ts';
import {
  type HttpRequestInit,
  type HttpResponse,
  type HttpSender,
  SendError,
  sendErrorCode,
} from '../platform/http-sender.ts';
import { timeoutSignal } from '../platform/timeout-signal.ts';
import { redactSecrets, type Secret } from '../secret.ts';
import {
  type ApiResponse,
  isTokenRefused,
  type LoginHints,
  mayBeTokenRefused,
  notJsonError,
  toApiError,
} from './api-response.ts';
import type { RateLimitRetry } from './rate-limit-retry.ts';

export interface ApiDeps {
  readonly baseOrigin: string;
  readonly send: HttpSender;
  /** A usable access token. */
  readonly bearer: () => Promise<Secret>;
  /** Another token than the refused one, or an error that says how to get one. */
  readonly renew: (refused: Secret) => Promise<Secret>;
  readonly clock: Clock;
  /** Milliseconds for one HTTP request, its body included. */
  readonly timeout: number;
  readonly loginHints: LoginHints;
}

export interface ApiRequest {
  readonly method: string;
  /** Path with query, beginning with `/`. */
  readonly path: string;
  /** JSON text. */
  readonly body?: string | undefined;
  /** What a 429 is met with where only a success will do; without it that is an error. */
  readonly rateLimitRetry?: RateLimitRetry | undefined;
  /** Ends it in place of the deadline. */
  readonly signal?: AbortSignal | undefined;
  /** Ends it before its deadline, as nobody's failure: what is thrown then is no CliError. */
  readonly until?: AbortSignal | undefined;
}

export interface Api {
  readonly baseOrigin: string;
  /** One request, with the token renewed if it is refused; safe requests are repeated after a failure on the way. */
  request(request: ApiRequest): Promise<ApiResponse>;
  /** The same, where everything but a success is an error. */
  success(request: ApiRequest): Promise<ApiResponse>;
  /** The decoded body of a success. `undefined` for an empty body. */
  json(request: ApiRequest): Promise<unknown>;
}

/** Answers are at most this long: 200 droplets are about 1 MiB. */
const maxResponseBytes = 64 * 1024 * 1024;
const maxAttempts = 3;
/** Two, because a sibling process may renew the session again before the first new token is used. */
const maxRenewals = 2;

export function createApi(deps: ApiDeps): Api {
  const request = async (call: ApiRequest): Promise<ApiResponse> => {
    let token = await deps.bearer();
    for (let renewals = 0; ; renewals++) {
      const answer = await sendWithRetries(deps, call, token);
      const isRefused =
        isTokenRefused(answer, call.path) ||
        (mayBeTokenRefused(answer, call.path) && (await isUnknownToken(deps, token)));
      if (!isRefused) return answer;
      if (renewals === maxRenewals) throw tokenStillRefusedError(deps, answer);
      // A refused token changed nothing, whatever the method: with another one the request is sent once more.
      const other = await deps.renew(token);
      if (other.reveal() === token.reveal()) throw tokenStillRefusedError(deps, answer);
      token = other;
    }
  };
  const success = async (call: ApiRequest): Promise<ApiResponse> => {
    for (;;) {
      const answer = await request(call);
      if (answer.status >= 200 && answer.status < 300) return answer;
      if (answer.status !== 429 || (await call.rateLimitRetry?.(answer)) !== true)
        throw toApiError(answer, call.method, withoutQuery(call.path), deps.loginHints);
    }
  };
  return {
    baseOrigin: deps.baseOrigin,
    request,
    success,
    json: async (call) => {
      const answer = await success(call);
      if (answer.raw.size === 0) return undefined;
      const json = parseExactJson(answer.text());
      if (!json.ok) throw notJsonError(answer, call.method, withoutQuery(call.path));
      return json.value;
    },
  };
}

function tokenStillRefusedError(deps: ApiDeps, { status, requestId }: ApiResponse): CliError {
  return new CliError('token_refused', 'the resource API refused the access token', {
    detail: `${deps.baseOrigin} does not know it, though it was just renewed`,
    hint: deps.loginHints.login,
    status,
    requestId: requestId(),
  });
}

/** Where a missing thing and an unknown token look the same (spec.md §5.7), a collection, which cannot be missing, tells which it was. */
async function isUnknownToken(deps: ApiDeps, token: Secret): Promise<boolean> {
  const collection = '/v2/actions?page=1&per_page=1';
  const answer = await sendWithRetries(deps, { method: 'GET', path: collection }, token);
  return isTokenRefused(answer, collection);
}

/** Repeats only what is safe to repeat: GET and HEAD after any failure on the way, others when they were never sent. */
async function sendWithRetries(deps: ApiDeps, call: ApiRequest, token: Secret): Promise<ApiResponse> {
  const { method, path, body, until } = call;
  const safe = method === 'GET' || method === 'HEAD';
  for (let attempt = 1; ; attempt++) {
    const last = attempt === maxAttempts;
    try {
      const answer = await deps.send(`${deps.baseOrigin}${path}`, {
        method,
        headers: headersOf(token, body !== undefined),
        body,
        signal: requestSignal(call, deps.timeout),
        redirect: 'manual',
      });
      const raw = await bufferBody(answer, maxResponseBytes);
      if (raw === undefined) throw responseTooLongError(call);
      const { status } = answer;
      const again = safe && (status === 408 || status === 502 || status === 503 || status === 504);
      if (!again || last) return toApiResponse(answer, raw, deps.clock.now(), token);
    } catch (error) {
      if (!(error instanceof SendError)) throw error;
      until?.throwIfAborted();
      const again =
        (safe || !error.sent) && error.kind !== 'tls' && error.kind !== 'aborted' && error.kind !== 'timeout';
      if (!again || last) throw unreachableError(error);
    }
    await deps.clock.sleep(250 * 2 ** attempt, until);
  }
}

function requestSignal({ signal, until }: ApiRequest, timeout: number): AbortSignal {
  if (signal !== undefined) return signal;
  const deadline = timeoutSignal(timeout);
  return until === undefined ? deadline : AbortSignal.any([until, deadline]);
}

function responseTooLongError({ method, path }: ApiRequest): CliError {
  return new CliError(
    'api_error',
    `could not ${method} ${withoutQuery(path)}: the answer is longer than 64 MiB`,
    // Who sent something that changes things must know that it may have been done.
    { cause: new SendError('connection', true, 'the answer was not read to its end') },
  );
}

/** Thousands of requests go with one token. */
const headersOfToken = new WeakMap<Secret, readonly HttpRequestInit['headers'][]>();

function headersOf(token: Secret, hasBody: boolean): HttpRequestInit['headers'] {
  const bare = { accept: 'application/json', authorization: `Bearer ${token.reveal()}` };
  const known = headersOfToken.get(token) ?? [bare, { ...bare, 'content-type': 'application/json' }];
  headersOfToken.set(token, known);
  return known[Number(hasBody)] ?? bare;
}

// No getters: an object literal with them has a hidden class of its own, which outlives it and all that it knows.
function toApiResponse(answer: HttpResponse, raw: BufferedBody, now: number, token: Secret): ApiResponse {
  const date = dateOf(answer);
  return {
    status: answer.status,
    contentType: () => (answer.headers.get('content-type') ?? '').split(';')[0]?.trim() ?? '',
    requestId: () => {
      const id = answer.headers.get('x-request-id');
      return id === null ? undefined : redactSecrets(id, [token]);
    },
    retryAfter: retryAfter(answer, date ?? now),
    date,
    limit: rateLimitOf(answer),
    // Data is the caller's as it is; the text of an error is ours to print.
    text: () => (answer.status < 400 ? textOf(raw) : redactSecrets(textOf(raw), [token])),
    raw,
  };
}

function textOf(body: BufferedBody): string {
  return body.bytes().toString('utf8');
}

/** Whole seconds, from either form of Retry-After (RFC 9110 §10.2.3), else from `ratelimit-reset` in epoch seconds. `now`: the server's. */
function retryAfter(answer: HttpResponse, now: number): number | undefined {
  if (answer.status !== 429) return undefined;
  const after = answer.headers.get('retry-after');
  if (after !== null && /^\d+$/.test(after)) return Number(after);
  const date = after === null ? Number.NaN : Date.parse(after);
  if (!Number.isNaN(date)) return Math.max(0, Math.ceil((date - now) / 1000));
  const reset = Number(answer.headers.get('ratelimit-reset') ?? Number.NaN);
  return Number.isFinite(reset) ? Math.max(0, Math.ceil(reset - now / 1000)) : undefined;
}

function dateOf({ headers }: HttpResponse): number | undefined {
  const time = Date.parse(headers.get('date') ?? '');
  return Number.isNaN(time) ? undefined : time;
}

function rateLimitOf({ headers }: HttpResponse): ApiResponse['limit'] {
  const remaining = headers.get('ratelimit-remaining') ?? '';
  const reset = headers.get('ratelimit-reset') ?? '';
  const isTold = /^\d+$/.test(remaining) && /^\d+$/.test(reset);
  return isTold ? { remaining: Number(remaining), reset: Number(reset) } : undefined;
}

function withoutQuery(path: string): string {
  return path.split('?')[0] ?? path;
}

/** What helps against a handshake that failed: most often it is the certificate that is not trusted. */
export function tlsHintFor({ noTls }: SendError): string {
  if (!noTls) return tlsHint;
  return 'check the port with `cloudctl config list`; a server on this machine may be given as `http://`';
}

export const tlsHint =
  'the certificate must be valid for this name; NODE_EXTRA_CA_CERTS names a file of further authorities';

/** Exit 6 with what was seen on the way (contract.md §2). */
export function unreachableError(error: SendError): CliError {
  const code = sendErrorCode(error);
  const hints = {
    tls: tlsHintFor(error),
    timeout: 'try again, or allow more time with `--timeout 60s`',
    unreachable: 'check the network and the address with `cloudctl config list`',
  };
  // The profile says nothing of the proxy, which comes from the environment.
  const hint =
    error.atProxy && code === 'unreachable'
      ? 'check HTTPS_PROXY and HTTP_PROXY, or name the server in NO_PROXY'
      : hints[code];
  return new CliError(code, error.message, { hint, cause: error });
}
