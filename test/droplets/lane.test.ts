import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CliError } from '../../src/base/errors.ts';
import {
  countRequest,
  createLane,
  delayBefore,
  type Headers,
  noRateLimit,
  type RateLimit,
  rateLimitAfter,
} from '../../src/droplets/lane.ts';
import { workLoginHints } from '../api/login-hints.ts';
import { expectGolden } from '../fixtures/golden.ts';
import { apiOf, batchResponse, instantClock } from './batch-fixtures.ts';

describe('rate limited sender', () => {
  const busy = batchResponse(429, {}, { retryAfter: 0 });
  const signal = new AbortController().signal;
  const post = { method: 'POST', path: '/v2/droplets', body: '{}' } as const;

  /** The waits that were announced, after so many requests in flight together were refused so many times. */
  async function waits(together: number, times: number): Promise<readonly number[]> {
    const told: number[] = [];
    const onPause = async (ms: number): Promise<void> => void told.push(Math.round(ms / 1000));
    const line = createLane({
      api: apiOf(() => busy),
      loginHints: workLoginHints,
      clock: instantClock(),
      maxPause: 900_000,
      onPause,
    });
    for (let round = 0; round < times; round++) {
      await line.waitForTurn(signal);
      await Promise.all(Array.from({ length: together }, () => line.request(post)));
    }
    await line.waitForTurn(signal);
    return told;
  }

  it('requests that were refused together are one refusal, and those after the wait another', async () => {
    // A wait of one second is not announced.
    expect(await waits(4, 3)).toEqual([2, 4]);
    expect(await waits(1, 3)).toEqual([2, 4]);
  });

  it('an answer without a Date leaves the time of the server as it was last told', async () => {
    const dates = [Date.parse('2026-01-01T00:00:07Z'), undefined, Date.parse('2026-01-01T00:00:09Z')];
    const api = apiOf(
      () => batchResponse(500),
      (_, count) => batchResponse(200, {}, { date: dates[count] }),
    );
    const line = createLane({
      api,
      loginHints: workLoginHints,
      clock: instantClock(),
      maxPause: 900_000,
      onPause: async () => {},
    });
    const times: (string | undefined)[] = [line.serverTime()];
    for (const _ of dates) {
      await line.request({ method: 'GET', path: '/v2/droplets', signal: new AbortController().signal });
      times.push(line.serverTime());
    }
    const [first, last] = ['2026-01-01T00:00:07.000Z', '2026-01-01T00:00:09.000Z'];
    expect(times).toEqual([undefined, first, first, last]);
  });

  /** What ends the patience with a server that refuses with this `retry-after`. */
  async function endOf(retryAfter: number): Promise<unknown> {
    const api = apiOf(() => batchResponse(429, {}, { retryAfter }));
    const line = createLane({
      api,
      loginHints: workLoginHints,
      clock: instantClock(),
      maxPause: 900_000,
      onPause: async () => {},
    });
    for (;;) {
      try {
        await line.waitForTurn(signal);
      } catch (error) {
        return error;
      }
      await line.request(post);
    }
  }

  it.each([1_200, 1e25, 240])(
    'a wait that is too long, %d s at a time, is an error with the time',
    async (retryAfter) => {
      const error = await endOf(retryAfter);
      expect(error).toMatchObject({ code: 'rate_limited', exitCode: 5 });
      expectGolden('droplets', error instanceof CliError ? `${error.message}\n${error.detail}` : '');
    },
  );
});

describe('rate limit state', () => {
  const quiet: Headers = {
    status: 202,
    remaining: undefined,
    reset: undefined,
    date: undefined,
    retryAfter: undefined,
  };

  describe('the wait before the next request', () => {
    const rows: readonly (readonly [string, RateLimit, number])[] = [
      ['is none without a limit', noRateLimit, 0],
      ['is none while something is left', { remaining: 1, resetAt: 9_000, closedUntil: 0 }, 0],
      ['lasts until the window ends when nothing is left', { remaining: 0, resetAt: 9_000, closedUntil: 0 }, 8_000],
      ['is none once the window has ended', { remaining: 0, resetAt: 1_000, closedUntil: 0 }, 0],
      ['lasts as long as a 429 says', { remaining: 5, resetAt: 9_000, closedUntil: 4_000 }, 3_000],
      ['is the longer of both', { remaining: 0, resetAt: 2_000, closedUntil: 4_000 }, 3_000],
    ];
    it.each(rows)('%s', (_what, allowance, wait) => {
      expect(delayBefore(allowance, 1_000)).toBe(wait);
    });
  });

  describe('what an answer says', () => {
    it('is reckoned by the server’s own clock', () => {
      const date = 5_000_000;
      const next = rateLimitAfter(noRateLimit, { ...quiet, remaining: 0, reset: 5_060, date }, 1_000, 0, 0);
      expect(next).toEqual({ remaining: 0, resetAt: 61_000, closedUntil: 0 });
    });

    it('leaves room for requests the server has not counted yet', () => {
      expect(rateLimitAfter(noRateLimit, { ...quiet, remaining: 7, reset: 60, date: 0 }, 0, 3, 0).remaining).toBe(4);
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
      const next = rateLimitAfter(noRateLimit, { ...quiet, status: 429, ...headers }, 0, 0, refusals);
      expect(delayBefore(next, 0)).toBe(wait);
    });

    it('does not shorten the wait another answer asked for', () => {
      const closed = { remaining: undefined, resetAt: 0, closedUntil: 9_000 };
      expect(rateLimitAfter(closed, { ...quiet, status: 429, retryAfter: 2 }, 0, 0, 1).closedUntil).toBe(9_000);
      expect(rateLimitAfter(closed, quiet, 0, 0, 0).closedUntil).toBe(9_000);
    });
  });

  describe('requests', () => {
    it('are taken off what is left, until a new window begins', () => {
      expect(countRequest({ remaining: 3, resetAt: 10, closedUntil: 0 }, 5).remaining).toBe(2);
      expect(countRequest({ remaining: 3, resetAt: 10, closedUntil: 0 }, 10).remaining).toBeUndefined();
      expect(countRequest(noRateLimit, 5)).toEqual(noRateLimit);
    });

    it('are never more in a window than the server allows, however its answers are delayed', () => {
      fc.assert(
        fc.property(fc.integer({ min: 1, max: 20 }), fc.array(fc.boolean(), { maxLength: 80 }), (limit, steps) => {
          let used = 0;
          let allowance: RateLimit = { remaining: limit, resetAt: 1_000, closedUntil: 0 };
          const flying: number[] = [];
          for (const sends of steps) {
            if (sends && delayBefore(allowance, 1) === 0) {
              allowance = countRequest(allowance, 1);
              used += 1;
              flying.push(limit - used);
            } else if (!sends) {
              const remaining = flying.shift();
              if (remaining === undefined) continue;
              // `reset` of the same window: a second of the server's clock that began at 0.
              allowance = rateLimitAfter(allowance, { ...quiet, remaining, reset: 1, date: 0 }, 0, flying.length, 0);
            }
          }
          expect(used).toBeLessThanOrEqual(limit);
        }),
      );
    });
  });
});
