import { CliError } from '../base/errors.ts';
import type { ApiResponse } from './api-response.ts';

/**
 * Waits until the rate limit of the server allows another request. Resolves with false when the wait for the rate limit would
 * be too long.
 */
export type LimitWait = (refusal: Pick<ApiResponse, 'retryAfter'>) => Promise<boolean>;

/** A function that waits for a number of milliseconds. */
export type DelayFunction = (ms: number) => Promise<void>;

/**
 * Creates the function that waits before each retry of one request; returns undefined when `pause` is undefined. @param
 * maxWaitMs the longest total wait for the request
 */
export function limitWait(pause: DelayFunction | undefined, maxWaitMs = 900_000): LimitWait | undefined {
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

/** How long a command waits for the rate limit, and what it shows before a wait of `ms` milliseconds. */
export interface Waits {
  readonly maxWait: number;
  readonly onPause: (ms: number) => Promise<void>;
}

/** Consecutive reads that may fail before a poll ends. */
const maxFailures = 5;

/** The failed reads of a poll. An error that another read would not change ends it, as does the error of its first read. */
export class FailedReads {
  #failures = 0;
  #hasRead = false;

  succeed(): void {
    this.#failures = 0;
    this.#hasRead = true;
  }

  /** The error, if the poll goes on; throws the error that ends it. */
  add(error: unknown): CliError {
    this.#failures += 1;
    if (!(error instanceof CliError) || error.exitCode === 4 || error.code === 'not_found') throw error;
    if (!this.#hasRead || this.#failures === maxFailures) throw error;
    return error;
  }
}
