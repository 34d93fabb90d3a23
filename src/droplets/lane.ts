import { type ApiResponse, type RefusedHints, toApiError } from '../api/api-response.ts';
import type { ApiClient, ApiRequest } from '../api/client.ts';
import type { Reader } from '../api/list.ts';
import { CliError } from '../base/errors.ts';
import { formatDuration } from '../base/text.ts';
import type { Clock } from '../platform/host.ts';

/** Sends the requests of a batch within the rate limit of the server. */
export interface Lane {
  readonly baseOrigin: string;
  readonly clock: Clock;
  readonly loginHints: RefusedHints;
  /**
   * Called before each request; returns undefined when a request is allowed now, otherwise a promise that the caller waits for.
   * The promise rejects when the wait would be too long or the signal is aborted.
   */
  waitForTurn(signal: AbortSignal): Promise<void> | undefined;
  /** Sends a request; the caller must have called `waitForTurn` before. */
  request(request: ApiRequest): Promise<ApiResponse>;
  /** The latest Date header of the server in ISO 8601. */
  readonly serverTime: () => string | undefined;
}

/** Reads through a lane: a 429 is never an error, because the lane waits until the rate limit allows another request. */
export function readerOf(lane: Lane, signal: AbortSignal): Reader {
  const get = async (path: string): Promise<ApiResponse> => {
    for (;;) {
      await lane.waitForTurn(signal);
      const response = await lane.request({ method: 'GET', path, until: signal });
      if (response.status >= 200 && response.status < 300) return response;
      if (response.status !== 429) throw toApiError(response, 'GET', path.split('?')[0] ?? path, lane.loginHints);
    }
  };
  return { baseOrigin: lane.baseOrigin, get, sleep: (ms) => lane.clock.sleep(ms, signal) };
}

export interface LaneOptions {
  readonly api: ApiClient;
  readonly loginHints: RefusedHints;
  readonly clock: Clock;
  /** The longest wait for the rate limit in milliseconds. */
  readonly maxPause: number;
  /** Called before a wait for the rate limit of more than 1 s. @param ms milliseconds */
  readonly onPause: (ms: number) => Promise<void>;
}

export function createLane({ api, loginHints, clock, maxPause, onPause }: LaneOptions): Lane {
  let rateLimit: RateLimit = noRateLimit;
  let inFlight = 0;
  let refusals = 0;
  let refusedSince: number | undefined;
  let date: number | undefined;
  let time: string | undefined;

  const take = (signal: AbortSignal): Promise<void> | undefined => {
    signal.throwIfAborted();
    const now = clock.now();
    const wait = delayBefore(rateLimit, now);
    if (wait > 0) return waitAndTake(wait, signal);
    rateLimit = countRequest(rateLimit, now);
    return undefined;
  };
  const waitAndTake = async (wait: number, signal: AbortSignal): Promise<void> => {
    // The waits of consecutive 429 responses are added up: their sum must stay within the limit.
    const waited = refusedSince === undefined ? 0 : clock.now() - refusedSince;
    if (wait + waited > maxPause) throw rateLimitError(wait, waited, maxPause);
    if (wait > 1_000) await onPause(wait);
    await clock.sleep(wait, signal);
    await take(signal);
  };

  return {
    baseOrigin: api.baseOrigin,
    clock,
    loginHints,
    waitForTurn: take,
    async request(request) {
      inFlight += 1;
      const before = refusals;
      let response: ApiResponse;
      try {
        response = await api.request(request);
      } finally {
        inFlight -= 1;
      }
      const now = clock.now();
      // If the server refuses several simultaneous requests, this counts as one refusal.
      refusals = response.status === 429 ? Math.max(refusals, before + 1) : 0;
      const { status, retryAfter, limit, date: serverDate } = response;
      const headers = { status, retryAfter, remaining: limit?.remaining, reset: limit?.reset, date: serverDate };
      rateLimit = rateLimitAfter(rateLimit, headers, now, inFlight, refusals);
      refusedSince = status === 429 ? (refusedSince ?? now) : undefined;
      if (serverDate !== undefined && serverDate !== date) time = new Date(serverDate).toISOString();
      date = serverDate ?? date;
      return response;
    },
    serverTime: () => time,
  };
}

/** @param wait milliseconds until the next request @param waited milliseconds for which the server has refused all requests */
function rateLimitError(wait: number, waited: number, maxPause: number): CliError {
  const refused = waited < 60_000 ? '' : ` has refused all requests for ${formatDuration(waited)} and`;
  // A waiting time of more than a week is probably an error of the server.
  const next = wait > week ? 'no request for more than 7 days' : `the next request in ${formatDuration(wait)}`;
  return new CliError('rate_limited', 'the rate limit is reached', {
    detail: `the server${refused} accepts ${next}; --max-wait is ${formatDuration(maxPause)}`,
    exitCode: 5,
  });
}

const week = 7 * 24 * 3_600_000;

/**
 * The state of the rate limit according to the latest responses. Times of the rate limit are milliseconds of this machine's
 * clock.
 */
export interface RateLimit {
  /**
   * The number of requests that may still be sent until `resetAt`; requests in flight are already subtracted. Undefined when
   * the server does not report a limit.
   */
  readonly remaining: number | undefined;
  readonly resetAt: number;
  /** The time before which no request is sent after a 429. */
  readonly closedUntil: number;
}

/** The rate limit headers of a response. */
export interface Headers {
  readonly status: number;
  readonly remaining: number | undefined;
  /** The end of the rate limit window in epoch seconds of the server's clock. */
  readonly reset: number | undefined;
  /** The server's time of the response in milliseconds. */
  readonly date: number | undefined;
  /** Seconds to wait; present only in a 429 response. */
  readonly retryAfter: number | undefined;
}

export const noRateLimit: RateLimit = { remaining: undefined, resetAt: 0, closedUntil: 0 };

/** The number of milliseconds to wait before the next request. */
export function delayBefore({ remaining, resetAt, closedUntil }: RateLimit, now: number): number {
  const spent = remaining !== undefined && remaining <= 0 && now < resetAt;
  return Math.max(0, closedUntil - now, spent ? resetAt - now : 0);
}

export function countRequest(state: RateLimit, now: number): RateLimit {
  const { remaining, resetAt } = state;
  if (remaining === undefined) return state;
  // A new rate limit window has started. Its first response reports how many requests the window allows.
  return now >= resetAt ? { ...state, remaining: undefined } : { ...state, remaining: remaining - 1 };
}

/**
 * @param inFlight number of requests that the server may not yet have counted in the headers @param refusals number of
 * consecutive 429 responses, including this one
 */
export function rateLimitAfter(
  state: RateLimit,
  headers: Headers,
  now: number,
  inFlight: number,
  refusals: number,
): RateLimit {
  const resetAt = headers.reset === undefined ? 0 : now + Math.max(0, headers.reset * 1000 - (headers.date ?? now));
  const counted = headers.remaining !== undefined && headers.reset !== undefined;
  const next = {
    remaining: counted ? (headers.remaining ?? 0) - inFlight : undefined,
    resetAt,
    closedUntil: state.closedUntil,
  };
  if (headers.status !== 429) return next;
  const requestedWait = headers.retryAfter === undefined ? resetAt - now : headers.retryAfter * 1000;
  // For a 429 without a positive waiting time, the program chooses the wait, so that the request is not repeated at once.
  const wait = requestedWait > 0 ? requestedWait : Math.min(60_000, 1_000 * 2 ** (refusals - 1));
  return { ...next, closedUntil: Math.max(state.closedUntil, now + wait) };
}
