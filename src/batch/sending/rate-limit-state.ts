/** The rate limit as the last responses describe it. Times are milliseconds of the local clock. */
export interface RateLimitState {
  /** Requests left until `resetAt`, without those in flight; undefined when the server does not report it. */
  readonly remaining: number | undefined;
  readonly resetAt: number;
  /** After a 429 no request is sent before this time. */
  readonly closedUntil: number;
}

/** The rate limit headers of a response. */
export interface RateLimitHeaders {
  readonly status: number;
  readonly remaining: number | undefined;
  /** Epoch seconds of the server's clock. */
  readonly reset: number | undefined;
  /** The server's clock in milliseconds. */
  readonly date: number | undefined;
  /** Seconds to wait; only with a 429. */
  readonly retryAfter: number | undefined;
}

export const noRateLimit: RateLimitState = { remaining: undefined, resetAt: 0, closedUntil: 0 };

/** Milliseconds to wait before the next request. */
export function delayBeforeRequest({ remaining, resetAt, closedUntil }: RateLimitState, now: number): number {
  const spent = remaining !== undefined && remaining <= 0 && now < resetAt;
  return Math.max(0, closedUntil - now, spent ? resetAt - now : 0);
}

export function rateLimitAfterSending(state: RateLimitState, now: number): RateLimitState {
  const { remaining, resetAt } = state;
  if (remaining === undefined) return state;
  // A new window has started. Its first response reports its size.
  return now >= resetAt ? { ...state, remaining: undefined } : { ...state, remaining: remaining - 1 };
}

/**
 * @param inFlight requests that the server may not have counted when it wrote the headers
 * @param refusals consecutive responses with 429, including this one
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
  // A 429 whose wait is over at once counts as one without a time: otherwise the request would be sent in a tight loop.
  const wait = requestedWait > 0 ? requestedWait : Math.min(60_000, 1_000 * 2 ** (refusals - 1));
  return { ...next, closedUntil: Math.max(state.closedUntil, now + wait) };
}
