import type { ApiResponse } from './api-response.ts';

/**
 * Waits until the rate limit of the server allows another request. Resolves with false when the wait for the rate limit would
 * be too long.
 */
export type RateLimitWaitFunction = (refusal: Pick<ApiResponse, 'retryAfter'>) => Promise<boolean>;

/** A function that waits for a number of milliseconds. */
export type DelayFunction = (ms: number) => Promise<void>;

/**
 * Creates the function that waits before each retry of one request; returns undefined when `pause` is undefined. @param
 * maxWaitMs the longest total wait for the request
 */
export function createRateLimitWaitFunction(
  pause: DelayFunction | undefined,
  maxWaitMs = 900_000,
): RateLimitWaitFunction | undefined {
  if (pause === undefined) return undefined;
  let refusals = 0;
  let waited = 0;
  return async ({ retryAfter = 0 }) => {
    // If the response has no waiting time, or one that has passed, the wait doubles with every 429.
    const ms = retryAfter > 0 ? retryAfter * 1_000 : Math.min(60_000, 1_000 * 2 ** refusals);
    refusals += 1;
    waited += ms;
    if (waited > maxWaitMs) return false;
    await pause(ms);
    return true;
  };
}
