import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decrementRemainingRateLimit,
  delayBeforeRequest,
  initialRateLimitState,
  type RateLimitHeaders,
  type RateLimitState,
  rateLimitAfterResponse,
} from '../../../src/batch/sending/rate-limit-state.ts';

const quiet: RateLimitHeaders = {
  status: 202,
  remaining: undefined,
  reset: undefined,
  date: undefined,
  retryAfter: undefined,
};

describe('the wait before the next request', () => {
  const rows: readonly (readonly [string, RateLimitState, number])[] = [
    ['is none without a limit', initialRateLimitState, 0],
    ['is none while something is left', { remaining: 1, resetAt: 9_000, closedUntil: 0 }, 0],
    ['lasts until the window ends when nothing is left', { remaining: 0, resetAt: 9_000, closedUntil: 0 }, 8_000],
    ['is none once the window has ended', { remaining: 0, resetAt: 1_000, closedUntil: 0 }, 0],
    ['lasts as long as a 429 says', { remaining: 5, resetAt: 9_000, closedUntil: 4_000 }, 3_000],
    ['is the longer of both', { remaining: 0, resetAt: 2_000, closedUntil: 4_000 }, 3_000],
  ];
  it.each(rows)('%s', (_what, allowance, wait) => {
    expect(delayBeforeRequest(allowance, 1_000)).toBe(wait);
  });
});

describe('what an answer says', () => {
  it('is reckoned by the server’s own clock', () => {
    const date = 5_000_000;
    const next = rateLimitAfterResponse(
      initialRateLimitState,
      { ...quiet, remaining: 0, reset: 5_060, date },
      1_000,
      0,
      0,
    );
    expect(next).toEqual({ remaining: 0, resetAt: 61_000, closedUntil: 0 });
  });

  it('leaves room for requests the server has not counted yet', () => {
    expect(
      rateLimitAfterResponse(initialRateLimitState, { ...quiet, remaining: 7, reset: 60, date: 0 }, 0, 3, 0).remaining,
    ).toBe(4);
  });

  it.each([
    ['retry-after', { retryAfter: 7 }, 1, 7_000],
    ['the time in ratelimit-reset', { remaining: 0, reset: 30, date: 10_000 }, 1, 20_000],
    ['a second when neither is told', {}, 1, 1_000],
    ['a second when it may be repeated at once', { retryAfter: 0 }, 1, 1_000],
    ['longer and longer when that is refused again', { retryAfter: 0 }, 4, 8_000],
    ['a second when the time in ratelimit-reset is over', { remaining: 0, reset: 30, date: 90_000 }, 1, 1_000],
    ['twice as long each time', {}, 4, 8_000],
    ['a minute at most', {}, 40, 60_000],
  ])('after a 429 is to wait for %s', (_what, headers, refusals, wait) => {
    const next = rateLimitAfterResponse(initialRateLimitState, { ...quiet, status: 429, ...headers }, 0, 0, refusals);
    expect(delayBeforeRequest(next, 0)).toBe(wait);
  });

  it('does not shorten the wait another answer asked for', () => {
    const closed = { remaining: undefined, resetAt: 0, closedUntil: 9_000 };
    expect(rateLimitAfterResponse(closed, { ...quiet, status: 429, retryAfter: 2 }, 0, 0, 1).closedUntil).toBe(9_000);
    expect(rateLimitAfterResponse(closed, quiet, 0, 0, 0).closedUntil).toBe(9_000);
  });
});

describe('requests', () => {
  it('are taken off what is left, until a new window begins', () => {
    expect(decrementRemainingRateLimit({ remaining: 3, resetAt: 10, closedUntil: 0 }, 5).remaining).toBe(2);
    expect(decrementRemainingRateLimit({ remaining: 3, resetAt: 10, closedUntil: 0 }, 10).remaining).toBeUndefined();
    expect(decrementRemainingRateLimit(initialRateLimitState, 5)).toEqual(initialRateLimitState);
  });

  it('are never more in a window than the server allows, however its answers are delayed', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20 }), fc.array(fc.boolean(), { maxLength: 80 }), (limit, steps) => {
        let used = 0;
        let allowance: RateLimitState = { remaining: limit, resetAt: 1_000, closedUntil: 0 };
        const flying: number[] = [];
        for (const sends of steps) {
          if (sends && delayBeforeRequest(allowance, 1) === 0) {
            allowance = decrementRemainingRateLimit(allowance, 1);
            used += 1;
            flying.push(limit - used);
          } else if (!sends) {
            const remaining = flying.shift();
            if (remaining === undefined) continue;
            // `reset` of the same window: a second of the server's clock that began at 0.
            allowance = rateLimitAfterResponse(
              allowance,
              { ...quiet, remaining, reset: 1, date: 0 },
              0,
              flying.length,
              0,
            );
          }
        }
        expect(used).toBeLessThanOrEqual(limit);
      }),
    );
  });
});
