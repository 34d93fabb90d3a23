import type { ApiResponse } from './api-response.ts';

/** Waits until the server allows the request once more; false when that takes too long. */
export type RateLimitRetry = (refusal: Pick<ApiResponse, 'retryAfter'>) => Promise<boolean>;

/** Waits so many milliseconds. */
export type Pause = (ms: number) => Promise<void>;

/** The longest wait for one request, in milliseconds. */
const maxWaitMs = 900_000;

/** Without `pause` there is no patience. One for each request. */
export function createRateLimitRetry(pause: Pause | undefined): RateLimitRetry | undefined {
  if (pause === undefined) return undefined;
  let refusals = 0;
  let waited = 0;
  return async ({ retryAfter = 0 }) => {
    // A server that names no time, or one that has come and refuses all the same, is asked less and less often.
    const ms = retryAfter > 0 ? retryAfter * 1_000 : Math.min(60_000, 1_000 * 2 ** refusals);
    refusals += 1;
    waited += ms;
    if (waited > maxWaitMs) return false;
    await pause(ms);
    return true;
  };
}
