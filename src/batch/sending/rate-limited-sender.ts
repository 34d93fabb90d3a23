import type { ApiResponse, RefusedRequestHints } from '../../api/api-response.ts';
import type { ApiClient, ApiRequest } from '../../api/client.ts';
import { formatWaitingTime } from '../../cli/duration.ts';
import { CliError } from '../../errors.ts';
import type { Clock } from '../../platform/host.ts';
import {
  decrementRemainingRateLimit,
  delayBeforeRequest,
  initialRateLimitState,
  type RateLimitState,
  rateLimitAfterResponse,
} from './rate-limit-state.ts';

/** Sends the requests of a batch within the rate limit of the server. */
export interface RateLimitedSender {
  readonly baseOrigin: string;
  readonly loginHints: RefusedRequestHints;
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

export interface RateLimitedSenderOptions {
  readonly api: ApiClient;
  readonly loginHints: RefusedRequestHints;
  readonly clock: Clock;
  /** The longest wait for the rate limit in milliseconds. */
  readonly maxPause: number;
  /** Called before a wait for the rate limit of more than 1 s. @param ms milliseconds */
  readonly onPause: (ms: number) => Promise<void>;
}

export function createRateLimitedSender({
  api,
  loginHints,
  clock,
  maxPause,
  onPause,
}: RateLimitedSenderOptions): RateLimitedSender {
  let rateLimit: RateLimitState = initialRateLimitState;
  let inFlight = 0;
  let refusals = 0;
  let refusedSince: number | undefined;
  let date: number | undefined;
  let time: string | undefined;

  const take = (signal: AbortSignal): Promise<void> | undefined => {
    signal.throwIfAborted();
    const now = clock.now();
    const wait = delayBeforeRequest(rateLimit, now);
    if (wait > 0) return waitAndTake(wait, signal);
    rateLimit = decrementRemainingRateLimit(rateLimit, now);
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
      rateLimit = rateLimitAfterResponse(rateLimit, headers, now, inFlight, refusals);
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
  const refused = waited < 60_000 ? '' : ` has refused all requests for ${formatWaitingTime(waited)} and`;
  // A waiting time of more than a week is probably an error of the server.
  const next = wait > week ? 'no request for more than 7 days' : `the next request in ${formatWaitingTime(wait)}`;
  return new CliError('rate_limited', 'the rate limit is reached', {
    detail: `the server${refused} accepts ${next}; --max-wait is ${formatWaitingTime(maxPause)}`,
    exitCode: 5,
  });
}

const week = 7 * 24 * 3_600_000;
