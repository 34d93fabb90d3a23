import { CliError } from '../errors.ts';
import { parseExactJson } from '../json.ts';
import { type Body, receiveBody } from '../platform/body.ts';
import type { Clock } from '../platform/host.ts';
import { type Answer, failureCode, type Send, SendError, type SendInit } from '../platform/send.ts';
import { timeoutSignal } from '../platform/timeout.ts';
import { type Secret, withoutSecrets } from '../secret.ts';
import type { Patience } from './patience.ts';
import { type ApiAnswer, isTokenRefused, mayBeTokenRefused, notJson, problem, type WayIn } from './problem.ts';

export interface ApiDeps {
  readonly baseOrigin: string;
  readonly send: Send;
  /** A usable access token. */
  readonly bearer: () => Promise<Secret>;
  /** Another token than the refused one, or an error that says how to get one. */
  readonly renew: (refused: Secret) => Promise<Secret>;
  readonly clock: Clock;
  /** Milliseconds for one HTTP request, its body included. */
  readonly timeout: number;
  readonly wayIn: WayIn;
}

export interface ApiRequest {
  readonly method: string;
  /** Path with query, beginning with `/`. */
  readonly path: string;
  /** JSON text. */
  readonly body?: string | undefined;
  /** What a 429 is met with where only a success will do; without it that is an error. */
  readonly patience?: Patience | undefined;
  /** Ends it in place of the deadline. */
  readonly signal?: AbortSignal | undefined;
  /** Ends it before its deadline, as nobody's failure: what is thrown then is no CliError. */
  readonly until?: AbortSignal | undefined;
}

export interface Api {
  readonly baseOrigin: string;
  /** One request, with the token renewed if it is refused; safe requests are repeated after a failure on the way. */
  request(request: ApiRequest): Promise<ApiAnswer>;
  /** The same, where everything but a success is an error. */
  success(request: ApiRequest): Promise<ApiAnswer>;
  /** The decoded body of a success. `undefined` for an empty body. */
  json(request: ApiRequest): Promise<unknown>;
}

/** Answers are at most this long: 200 droplets are about 1 MiB. */
const bodyLimit = 64 * 1024 * 1024;
const tries = 3;
/** Two, because a sibling process may renew the session again before the first new token is used. */
const renewalsAtMost = 2;

export function createApi(deps: ApiDeps): Api {
  const request = async (call: ApiRequest): Promise<ApiAnswer> => {
    let token = await deps.bearer();
    for (let renewals = 0; ; renewals++) {
      const answer = await patiently(deps, call, token);
      const isRefused =
        isTokenRefused(answer, call.path) ||
        (mayBeTokenRefused(answer, call.path) && (await isUnknownToken(deps, token)));
      if (!isRefused) return answer;
      if (renewals === renewalsAtMost) throw stillRefused(deps, answer);
      // A refused token changed nothing, whatever the method: with another one the request is sent once more.
      const other = await deps.renew(token);
      if (other.reveal() === token.reveal()) throw stillRefused(deps, answer);
      token = other;
    }
  };
  const success = async (call: ApiRequest): Promise<ApiAnswer> => {
    for (;;) {
      const answer = await request(call);
      if (answer.status >= 200 && answer.status < 300) return answer;
      if (answer.status !== 429 || (await call.patience?.(answer)) !== true)
        throw problem(answer, call.method, withoutQuery(call.path), deps.wayIn);
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
      if (!json.ok) throw notJson(answer, call.method, withoutQuery(call.path));
      return json.value;
    },
  };
}

function stillRefused(deps: ApiDeps, { status, requestId }: ApiAnswer): CliError {
  return new CliError('token_refused', 'the resource API refused the access token', {
    detail: `${deps.baseOrigin} does not know it, though it was just renewed`,
    hint: deps.wayIn.login,
    status,
    requestId: requestId(),
  });
}

/** Where a missing thing and an unknown token look the same (spec.md §5.7), a collection, which cannot be missing, tells which it was. */
async function isUnknownToken(deps: ApiDeps, token: Secret): Promise<boolean> {
  const collection = '/v2/actions?page=1&per_page=1';
  const answer = await patiently(deps, { method: 'GET', path: collection }, token);
  return isTokenRefused(answer, collection);
}

/** Repeats only what is safe to repeat: GET and HEAD after any failure on the way, others when they were never sent. */
async function patiently(deps: ApiDeps, call: ApiRequest, token: Secret): Promise<ApiAnswer> {
  const { method, path, body, until } = call;
  const safe = method === 'GET' || method === 'HEAD';
  for (let attempt = 1; ; attempt++) {
    const last = attempt === tries;
    try {
      const answer = await deps.send(`${deps.baseOrigin}${path}`, {
        method,
        headers: headersOf(token, body !== undefined),
        body,
        signal: endOf(call, deps.timeout),
        redirect: 'manual',
      });
      const raw = await receiveBody(answer, bodyLimit);
      if (raw === undefined) throw tooLong(call);
      const { status } = answer;
      const again = safe && (status === 408 || status === 502 || status === 503 || status === 504);
      if (!again || last) return told(answer, raw, deps.clock.now(), token);
    } catch (error) {
      if (!(error instanceof SendError)) throw error;
      until?.throwIfAborted();
      const again =
        (safe || !error.sent) && error.kind !== 'tls' && error.kind !== 'aborted' && error.kind !== 'timeout';
      if (!again || last) throw unreachable(error);
    }
    await deps.clock.sleep(250 * 2 ** attempt, until);
  }
}

function endOf({ signal, until }: ApiRequest, timeout: number): AbortSignal {
  if (signal !== undefined) return signal;
  const deadline = timeoutSignal(timeout);
  return until === undefined ? deadline : AbortSignal.any([until, deadline]);
}

function tooLong({ method, path }: ApiRequest): CliError {
  return new CliError(
    'api_error',
    `could not ${method} ${withoutQuery(path)}: the answer is longer than 64 MiB`,
    // Who sent something that changes things must know that it may have been done.
    { cause: new SendError('connection', true, 'the answer was not read to its end') },
  );
}

/** Thousands of requests go with one token. */
const headersOfToken = new WeakMap<Secret, readonly SendInit['headers'][]>();

function headersOf(token: Secret, hasBody: boolean): SendInit['headers'] {
  const bare = { accept: 'application/json', authorization: `Bearer ${token.reveal()}` };
  const known = headersOfToken.get(token) ?? [bare, { ...bare, 'content-type': 'application/json' }];
  headersOfToken.set(token, known);
  return known[Number(hasBody)] ?? bare;
}

// No getters: an object literal with them has a hidden class of its own, which outlives it and all that it knows.
function told(answer: Answer, raw: Body, now: number, token: Secret): ApiAnswer {
  const date = dateOf(answer);
  return {
    status: answer.status,
    contentType: () => (answer.headers.get('content-type') ?? '').split(';')[0]?.trim() ?? '',
    requestId: () => {
      const id = answer.headers.get('x-request-id');
      return id === null ? undefined : withoutSecrets(id, [token]);
    },
    retryAfter: retryAfter(answer, date ?? now),
    date,
    limit: limitOf(answer),
    // Data is the caller's as it is; the text of an error is ours to print.
    text: () => (answer.status < 400 ? textOf(raw) : withoutSecrets(textOf(raw), [token])),
    raw,
  };
}

function textOf(body: Body): string {
  return body.bytes().toString('utf8');
}

/** Whole seconds, from either form of Retry-After (RFC 9110 §10.2.3), else from `ratelimit-reset` in epoch seconds. `now`: the server's. */
function retryAfter(answer: Answer, now: number): number | undefined {
  if (answer.status !== 429) return undefined;
  const after = answer.headers.get('retry-after');
  if (after !== null && /^\d+$/.test(after)) return Number(after);
  const date = after === null ? Number.NaN : Date.parse(after);
  if (!Number.isNaN(date)) return Math.max(0, Math.ceil((date - now) / 1000));
  const reset = Number(answer.headers.get('ratelimit-reset') ?? Number.NaN);
  return Number.isFinite(reset) ? Math.max(0, Math.ceil(reset - now / 1000)) : undefined;
}

function dateOf({ headers }: Answer): number | undefined {
  const time = Date.parse(headers.get('date') ?? '');
  return Number.isNaN(time) ? undefined : time;
}

function limitOf({ headers }: Answer): ApiAnswer['limit'] {
  const remaining = headers.get('ratelimit-remaining') ?? '';
  const reset = headers.get('ratelimit-reset') ?? '';
  const isTold = /^\d+$/.test(remaining) && /^\d+$/.test(reset);
  return isTold ? { remaining: Number(remaining), reset: Number(reset) } : undefined;
}

function withoutQuery(path: string): string {
  return path.split('?')[0] ?? path;
}

/** What helps against a handshake that failed: most often it is the certificate that is not trusted. */
export function tlsCureFor({ noTls }: SendError): string {
  if (!noTls) return tlsCure;
  return 'check the port with `cloudctl config list`; a server on this machine may be given as `http://`';
}

export const tlsCure =
  'the certificate must be valid for this name; NODE_EXTRA_CA_CERTS names a file of further authorities';

/** Exit 6 with what was seen on the way (contract.md §2). */
export function unreachable(error: SendError): CliError {
  const code = failureCode(error);
  const hints = {
    tls: tlsCureFor(error),
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
