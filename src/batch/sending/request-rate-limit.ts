import type { Clock } from '../../platform/host.ts';
import type { RateLimitedSender } from './rate-limited-sender.ts';

export interface RequestRateLimit {
  /** The number of requests that are allowed within `window` milliseconds. */
  readonly requests: number;
  readonly window: number;
}

/** The number of additional attempts that the API client makes before a request counts as failed. */
const attemptsOfFailure = 2;

/**
 * Wraps a send lane with an additional rate limit: within each time window it sends at most the number of requests in the
 * budget. The lane sends only one request at a time.
 */
export function limitRequestRateOfSender(
  lane: RateLimitedSender,
  clock: Clock,
  { requests, window }: RequestRateLimit,
): RateLimitedSender {
  /** The times at which the latest requests were sent or answered, oldest first. */
  let times: number[] = [];
  const takeTurn = async (signal: AbortSignal): Promise<void> => {
    const oldest = times.at(-requests);
    /**
     * If the system clock was set back, the computed wait would be too long, so the wait is limited to one rate limit
     * window.
     */
    const wait = oldest === undefined ? 0 : Math.min(window, oldest + window - clock.now());
    if (wait > 0) await clock.sleep(wait, signal);
    await lane.waitForTurn(signal);
    times = [...times.slice(1 - requests), clock.now()];
  };
  const countFailure = (): void => {
    for (let attempt = 0; attempt < attemptsOfFailure; attempt++) times = [...times.slice(1 - requests), clock.now()];
  };
  return {
    ...lane,
    waitForTurn: takeTurn,
    async request(request) {
      try {
        const response = await lane.request(request);
        // A server counts a request when it arrives, which is later than the time at which it was sent.
        times = [...times.slice(0, -1), clock.now()];
        if (response.status >= 500) countFailure();
        return response;
      } catch (error) {
        countFailure();
        throw error;
      }
    },
  };
}
