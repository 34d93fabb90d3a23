import { CliError } from '../base/errors.ts';
import { tryParseExactJson } from '../base/json.ts';
import { redactSecrets } from '../base/redact.ts';
import { type Secret, withhold } from '../base/secret.ts';
import type { Clock } from '../platform/host.ts';
import {
  type BufferedBody,
  bufferBody,
  type HttpInit,
  type HttpResponse,
  type HttpSender,
  networkCode,
  SendError,
} from '../platform/http-sender.ts';
import { timeoutSignal } from '../platform/waiting.ts';
import {
  type ApiResponse,
  isTokenRefused,
  mayHideRefusal,
  notJsonError,
  type RefusedHints,
  toApiError,
} from './api-response.ts';
import type { LimitWait } from './waits.ts';

/** Waiting time in whole seconds: Retry-After (RFC 9110 §10.2.3), else `ratelimit-reset` in epoch seconds. @param now in ms */
function readRateLimitWaitSeconds(response: HttpResponse, now: number): number | undefined {
  if (response.status !== 429) return undefined;
  const after = response.headers.get('retry-after');
  if (after !== null && /^\d+$/.test(after)) return Number(after);
  const date = after === null ? Number.NaN : Date.parse(after);
  if (!Number.isNaN(date)) return Math.max(0, Math.ceil((date - now) / 1000));
  const reset = Number(response.headers.get('ratelimit-reset') ?? Number.NaN);
  return Number.isFinite(reset) ? Math.max(0, Math.ceil(reset - now / 1000)) : undefined;
}

function readResponseDate({ headers }: HttpResponse): number | undefined {
  const time = Date.parse(headers.get('date') ?? '');
  return Number.isNaN(time) ? undefined : time;
}

function readApiRateLimit({ headers }: HttpResponse): ApiResponse['limit'] {
  const remaining = headers.get('ratelimit-remaining') ?? '';
  const reset = headers.get('ratelimit-reset') ?? '';
  const isTold = /^\d+$/.test(remaining) && /^\d+$/.test(reset);
  return isTold ? { remaining: Number(remaining), reset: Number(reset) } : undefined;
}

export interface ApiClientDeps {
  readonly baseOrigin: string;
  readonly send: HttpSender;
  /** The access token that is sent with each API request. */
  readonly bearer: () => Promise<Secret>;
  /** Resolves with a token other than the refused one. Rejects with an error that names the login command. */
  readonly renew: (refused: Secret) => Promise<Secret>;
  readonly clock: Clock;
  /** Time limit of one HTTP request including the response body, in milliseconds. */
  readonly timeout: number;
  readonly loginHints: RefusedHints;
}

export interface ApiRequest {
  readonly method: string;
  /** The path of the request with its query, beginning with `/`. */
  readonly path: string;
  /** JSON text. */
  readonly body?: string | undefined;
  /** Secrets in the request body, which an error response of the server may repeat. */
  readonly secrets?: readonly Secret[] | undefined;
  /** The wait after a 429 response, used by the functions `success` and `json`; if undefined, a 429 response is an error. */
  readonly rateLimitRetry?: LimitWait | undefined;
  /** A signal that aborts the request, and is used instead of the default time limit. */
  readonly signal?: AbortSignal | undefined;
  /** Aborts the request before its time limit. An aborted request throws the abort reason instead of a CliError. */
  readonly until?: AbortSignal | undefined;
}

export interface ApiClient {
  readonly baseOrigin: string;
  /** Sends one request. A refused token is renewed; GET and HEAD requests are repeated after a network failure. */
  request(request: ApiRequest): Promise<ApiResponse>;
  /** Like `request`, and throws a CliError for every status other than 2xx. */
  success(request: ApiRequest): Promise<ApiResponse>;
  /** The decoded body of a successful response; undefined for an empty body. */
  json(request: ApiRequest): Promise<unknown>;
}

/** A list page of 200 droplets has about 1 MiB, far below this limit of a response body. */
const maxResponseBytes = 64 * 1024 * 1024;
const maxAttempts = 3;
/**
 * The maximum number of renewals for one request. Another process may renew the session again before this process uses its
 * new token, so one renewal may not be enough.
 */
const maxRenewals = 2;

export function createClient(deps: ApiClientDeps): ApiClient {
  const request = async (call: ApiRequest): Promise<ApiResponse> => {
    let token = await deps.bearer();
    for (let renewals = 0; ; renewals++) {
      const response = await sendWithRetries(deps, call, token);
      const asked = mayHideRefusal(response, call.path) ? probeRequest : call;
      const proof = asked === call ? response : await sendWithRetries(deps, asked, token);
      // A probe response with status 429 or 5xx proves nothing about the token, so the caller waits or retries.
      if (asked !== call && (proof.status === 429 || proof.status >= 500)) return proof;
      if (!isTokenRefused(proof, asked.path)) return response;
      if (renewals === maxRenewals) throw tokenStillRefusedError(deps, response);
      // A request whose token was refused had no effect, so it is sent again, also if its method is POST, PUT or DELETE.
      const other = await deps.renew(token);
      if (other.equals(token)) throw tokenStillRefusedError(deps, response);
      token = other;
    }
  };
  const success = async (call: ApiRequest): Promise<ApiResponse> => {
    for (;;) {
      const response = await request(call);
      if (response.status >= 200 && response.status < 300) return response;
      if (response.status !== 429 || (await call.rateLimitRetry?.(response)) !== true)
        throw toApiError(response, call.method, withoutQuery(call.path), deps.loginHints);
    }
  };
  return {
    baseOrigin: deps.baseOrigin,
    request,
    success,
    json: async (call) => {
      const response = await success(call);
      if (response.raw.size === 0) return undefined;
      const json = tryParseExactJson(response.text());
      if (!json.ok) throw notJsonError(response, call.method, withoutQuery(call.path), json);
      return json.value;
    },
  };
}

function tokenStillRefusedError(deps: ApiClientDeps, { status, requestId }: ApiResponse): CliError {
  return new CliError('token_refused', 'the resource API refused the access token', {
    detail: `${deps.baseOrigin} refuses the access token although it was just renewed`,
    hint: deps.loginHints.login,
    status,
    requestId: requestId(),
  });
}

/**
 * Tests the access token with a request for a collection, because a collection always exists. For a single resource, a
 * missing resource and an unknown token have the same response (docs/service.md S7.5).
 */
const probeRequest: ApiRequest = { method: 'GET', path: '/v2/actions?page=1&per_page=1' };

/** Repeats GET and HEAD after any network failure, and requests with other methods only if they were not sent. */
async function sendWithRetries(deps: ApiClientDeps, call: ApiRequest, token: Secret): Promise<ApiResponse> {
  const { method, path, body, until } = call;
  const safe = method === 'GET' || method === 'HEAD';
  for (let attempt = 1; ; attempt++) {
    const last = attempt === maxAttempts;
    try {
      const response = await deps.send(`${deps.baseOrigin}${path}`, {
        method,
        headers: headersOf(token, body !== undefined),
        body,
        signal: requestSignal(call, deps.timeout),
        redirect: 'manual',
      });
      const raw = await bufferBody(response, maxResponseBytes);
      if (raw === undefined) throw responseTooLongError(call);
      const { status } = response;
      const again = safe && (status === 408 || (status >= 500 && status <= 504 && status !== 501));
      if (!again || last) return toApiResponse(response, raw, deps, call.secrets ?? []);
    } catch (error) {
      if (!(error instanceof SendError)) throw error;
      until?.throwIfAborted();
      const again = (safe || !error.sent) && !error.isFinal && error.kind !== 'aborted' && error.kind !== 'timeout';
      if (!again || last) throw unansweredError(error, deps.loginHints.unreachable);
    }
    await deps.clock.sleep(250 * 2 ** attempt, until);
  }
}

function requestSignal({ signal, until }: ApiRequest, timeout: number): AbortSignal {
  if (signal !== undefined) return signal;
  return until === undefined ? timeoutSignal(timeout) : timeoutSignal(timeout, until);
}

function responseTooLongError({ method, path }: ApiRequest): CliError {
  return new CliError(
    'api_error',
    `could not read the response of ${method} ${withoutQuery(path)}: it is longer than 64 MiB`,
    // The server may have carried out a request that changes data.
    { cause: new SendError('connection', true, 'the response was not read completely') },
  );
}

function headersOf(token: Secret, hasBody: boolean): HttpInit['headers'] {
  const headers = { accept: 'application/json', authorization: `Bearer ${withhold(token).reveal()}` };
  return hasBody ? { ...headers, 'content-type': 'application/json' } : headers;
}

/**
 * Members are functions instead of getters: for each object literal with getters, V8 keeps a hidden class, which would keep
 * the captured values in memory.
 */
function toApiResponse(
  response: HttpResponse,
  raw: BufferedBody,
  { baseOrigin, clock }: Pick<ApiClientDeps, 'baseOrigin' | 'clock'>,
  hidden: readonly Secret[],
): ApiResponse {
  const date = readResponseDate(response);
  return {
    status: response.status,
    contentType: () => (response.headers.get('content-type') ?? '').split(';')[0]?.trim() ?? '',
    requestId: () => {
      const id = response.headers.get('x-request-id');
      return id === null ? undefined : redactSecrets(id, hidden);
    },
    redirectOrigin: () => originOf(response.headers.get('location'), baseOrigin),
    retryAfter: readRateLimitWaitSeconds(response, date ?? clock.now()),
    date,
    limit: readApiRateLimit(response),
    // The output of the program removes the access token; secrets of a body, which may be words, are removed only here.
    text: () => (response.status < 400 ? textOf(raw) : redactSecrets(textOf(raw), hidden)),
    raw,
  };
}

/** A host name cannot contain control characters, and the origin has no path in which a server could put a secret. */
function originOf(location: string | null, base: string): string | undefined {
  if (location === null || !URL.canParse(location, base)) return undefined;
  const { origin } = new URL(location, base);
  return origin === 'null' ? undefined : origin;
}

function textOf(body: BufferedBody): string {
  return body.bytes().toString('utf8');
}

function withoutQuery(path: string): string {
  return path.split('?')[0] ?? path;
}

/** The hint for a failed TLS handshake, except with a certificate of an unknown issuer, whose error has its own hint. */
export function tlsFailureHint({ noTls }: SendError): string {
  if (!noTls) return 'check the host name, the dates of the certificate and the clock of this machine';
  return 'check the port with `cloudctl config list`; use `http://` for a server on this machine';
}

const checkNetworkHint = 'check the network and the address with `cloudctl config list`';

/** The error for a request that received no response (exit code 6). */
export function unansweredError(error: SendError, unreachable = checkNetworkHint): CliError {
  const code = networkCode(error);
  const hints = {
    tls: tlsFailureHint(error),
    timeout: 'try again, or raise the limit with `--timeout 60s`',
    unreachable,
  };
  // The proxy is set in the environment, so a change of the profile does not help.
  const proxyHint =
    error.atProxy && code === 'unreachable'
      ? 'check HTTPS_PROXY and HTTP_PROXY, or add the server to NO_PROXY'
      : undefined;
  const hint = error.hint ?? proxyHint ?? hints[code];
  return new CliError(code, error.message, { hint, cause: error });
}
