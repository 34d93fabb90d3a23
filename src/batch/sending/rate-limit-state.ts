/**
 * The state of the rate limit according to the latest responses. Times of the rate limit are milliseconds of this machine's
 * clock.
 */
export interface RateLimitState {
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
export interface RateLimitHeaders {
  readonly status: number;
  readonly remaining: number | undefined;
  /** The end of the rate limit window in epoch seconds of the server's clock. */
  readonly reset: number | undefined;
  /** The server's time of the response in milliseconds. */
  readonly date: number | undefined;
  /** Seconds to wait; present only in a 429 response. */
  readonly retryAfter: number | undefined;
}

export const initialRateLimitState: RateLimitState = { remaining: undefined, resetAt: 0, closedUntil: 0 };

/** The number of milliseconds to wait before the next request. */
export function delayBeforeRequest({ remaining, resetAt, closedUntil }: RateLimitState, now: number): number {
  const spent = remaining !== undefined && remaining <= 0 && now < resetAt;
  return Math.max(0, closedUntil - now, spent ? resetAt - now : 0);
}

export function decrementRemainingRateLimit(state: RateLimitState, now: number): RateLimitState {
  const { remaining, resetAt } = state;
  if (remaining === undefined) return state;
  // A new rate limit window has started. Its first response reports how many requests the window allows.
  return now >= resetAt ? { ...state, remaining: undefined } : { ...state, remaining: remaining - 1 };
}

/**
 * @param inFlight number of requests that the server may not yet have counted in the headers @param refusals number of
 * consecutive 429 responses, including this one
 */
export function rateLimitAfterResponse(
  state: RateLimitState,
  headers: RateLimitHeaders,
  now: number,
  inFlight: number,
  refusals: number,
): RateLimitState {
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
