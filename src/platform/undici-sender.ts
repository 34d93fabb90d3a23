import { requireUsable } from './connector.ts';
import type { SenderOptions } from './host.ts';
import type { DecompressedResponse } from './http-request.ts';
import { type HttpResponse, type HttpSender, SendError } from './http-sender.ts';
import { describeIncomplete } from './network-errors.ts';
import { proxyFor } from './proxy.ts';
import { type Trust, trustOf } from './trust.ts';

/**
 * Prints one line for each HTTP request: method, URL with the names of its parameters but without their values, result and
 * duration.
 */
export function tracingSender(send: HttpSender, trace: (line: string) => void, now: () => number): HttpSender {
  return async (url, init) => {
    const start = now();
    const print = (end: string) => trace(`${init.method} ${redactUrl(url)} ${end} ${Math.round(now() - start)} ms`);
    try {
      const answer = await send(url, init);
      print(String(answer.status));
      return answer;
    } catch (error) {
      print(error instanceof SendError ? error.kind : 'failed');
      throw error;
    }
  };
}

/** `https://host/path?name&name`. */
export function redactUrl(url: string): string {
  if (!URL.canParse(url)) return '(no URL)';
  const { origin, pathname, searchParams } = new URL(url);
  const names = [...searchParams.keys()].map(encodeURIComponent).join('&');
  return `${origin}${pathname}${names === '' ? '' : `?${names}`}`;
}

export interface UndiciOptions extends SenderOptions {
  /** Time limit for establishing a connection including handshakes, in milliseconds (default: 10 s). */
  readonly connectLimit?: number;
  readonly trust?: Trust;
  readonly now?: () => number;
}

/**
 * Sends requests with undici. With `fresh` each request uses a new connection, otherwise connections are reused. The caller
 * must read the body of a response or end its iteration, which releases the connection.
 */
export async function undiciSender(options: UndiciOptions): Promise<HttpSender> {
  const [{ sendOnce }, { createPool: createConnectionPool }] = await Promise.all([
    import('./http-request.ts'),
    import('./connection-pool.ts'),
  ]);
  const trust = options.trust ?? trustOf(options.env);
  const create = () =>
    createConnectionPool({
      proxyFor: (url) => proxyFor(url, options.env),
      connectLimit: options.connectLimit ?? 10_000,
      trust,
    });
  const kept = options.fresh === true ? undefined : create();

  // The parsed URL is cached, because a batch sends thousands of requests to one URL.
  let latest: { readonly url: string; readonly target: URL } | undefined;
  const targetOf = (url: string): URL => {
    if (latest?.url !== url) latest = { url, target: parse(url) };
    return latest.target;
  };
  const send: HttpSender = async (url, init) => {
    const target = targetOf(url);
    requireUsable(target, options.env, trust);
    const pool = kept ?? create();
    const leave = async () => {
      pool.release();
      if (pool !== kept) await pool.destroy();
    };
    const failure = (error: unknown) =>
      failureOf(error, { sent: attempt.sent, origin: target.origin, signal: init.signal });
    const attempt = { sent: false, failure, done: leave };
    const dispatcher = pool.acquire();
    try {
      const response = await sendOnce(dispatcher, target, init, attempt);
      if (response.body === null) await leave();
      return httpResponse(response);
    } catch (error) {
      await leave();
      throw failure(error);
    }
  };
  return options.trace === undefined ? send : tracingSender(send, options.trace, options.now ?? Date.now);
}

/** Sends requests with the given `fetch`, which does not report whether a request was sent, so each failed request counts as sent. */
export function fetchSender(fetch: typeof globalThis.fetch): HttpSender {
  return async (url, init) => {
    const { origin } = parse(url);
    const failure = (error: unknown) => failureOf(error, { sent: true, origin, signal: init.signal });
    try {
      const { status, headers, body } = await fetch(url, { ...init, body: init.body ?? null });
      return httpResponse({ status, headers, body: body === null ? null : withBodyErrors(body, failure) });
    } catch (error) {
      throw failure(error);
    }
  };
}

function parse(url: string): URL {
  // The error of the URL parser would contain the URL with its secrets.
  if (!URL.canParse(url)) throw new SendError('connection', false, 'could not send the request: the URL is invalid');
  return new URL(url);
}

function httpResponse({ status, headers, body }: DecompressedResponse): HttpResponse {
  return {
    status,
    headers: { get: (name) => headers.get(name) },
    body,
    async text() {
      const chunks: Uint8Array[] = [];
      if (body !== null) for await (const chunk of body) chunks.push(chunk);
      return Buffer.concat(chunks).toString('utf8');
    },
  };
}

async function* withBodyErrors(
  body: AsyncIterable<Uint8Array>,
  failure: (error: unknown) => SendError,
): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    throw failure(error);
  }
}

interface FailureContext {
  readonly sent: boolean;
  readonly origin: string;
  readonly signal: AbortSignal;
}

/**
 * Replaces errors of libraries, because "Failed to parse URL", ERR_INVALID_URL and errors about invalid headers contain the
 * secret.
 */
function failureOf(error: unknown, { sent, origin, signal }: FailureContext): SendError {
  // The error of `fetch` has the original error as its cause; the error of a dispatcher is the original error.
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (signal.aborted) {
    const late = signal.reason instanceof Error && signal.reason.name === 'TimeoutError';
    return late
      ? new SendError('timeout', sent, `no response from ${origin} in time`)
      : new SendError('aborted', sent, `the request to ${origin} was cancelled`);
  }
  if (cause instanceof SendError) return new SendError(cause.kind, cause.sent || sent, cause.message, cause);
  if (!sent) return new SendError('connection', false, `could not send the request to ${origin}`);
  return new SendError('connection', true, `no complete response from ${origin}: ${describeIncomplete(cause)}`);
}
