/** What the server allows, as far as its last answers said. Times are milliseconds of this machine's clock. */
export interface RateLimitState {
  /** Requests left until `resetAt`, those in flight taken off; undefined when the server does not count. */
  readonly remaining: number | undefined;
  readonly resetAt: number;
  /** A 429 forbids everything before. */
  readonly closedUntil: number;
}

/** What an answer says about it. */
export interface RateLimitHeaders {
  readonly status: number;
  readonly remaining: number | undefined;
  /** Epoch seconds by the server's clock. */
  readonly reset: number | undefined;
  /** The server's clock, in milliseconds. */
  readonly date: number | undefined;
  /** Seconds, with a 429. */
  readonly retryAfter: number | undefined;
}

export const noRateLimit: RateLimitState = { remaining: undefined, resetAt: 0, closedUntil: 0 };

/** Milliseconds to wait before the next request. */
export function delayBeforeRequest({ remaining, resetAt, closedUntil }: RateLimitState, now: number): number {
  const spent = remaining !== undefined && remaining <= 0 && now < resetAt;
  return Math.max(0, closedUntil - now, spent ? resetAt - now : 0);
}

export function rateLimitAfterSending(allowance: RateLimitState, now: number): RateLimitState {
  const { remaining, resetAt } = allowance;
  if (remaining === undefined) return allowance;
  // A new window has begun, and its first answer will tell how large it is.
  return now >= resetAt ? { ...allowance, remaining: undefined } : { ...allowance, remaining: remaining - 1 };
}

/** `inFlight`: requests the server may not have counted when it wrote these headers; `refusals`: 429s in a row, this one included. */
export function rateLimitAfterResponse(
  allowance: RateLimitState,
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
    closedUntil: allowance.closedUntil,
  };
  if (headers.status !== 429) return next;
  const told = headers.retryAfter === undefined ? resetAt - now : headers.retryAfter * 1000;
  // A time that has come already, refused all the same, tells as little as none: without a wait it would be asked for ever.
  const wait = told > 0 ? told : Math.min(60_000, 1_000 * 2 ** (refusals - 1));
  return { ...next, closedUntil: Math.max(allowance.closedUntil, now + wait) };
}
