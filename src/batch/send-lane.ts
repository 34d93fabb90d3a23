import type { ApiResponse, LoginHints } from '../api/api-response.ts';
import type { Api, ApiRequest } from '../api/client.ts';
import { CliError } from '../errors.ts';
import type { Clock } from '../platform/host.ts';
import {
  delayBeforeRequest,
  noRateLimit,
  type RateLimitState,
  rateLimitAfterResponse,
  rateLimitAfterSending,
} from './rate-limit-state.ts';

/** The way to the server: every request of a batch takes its turn here. */
export interface SendLane {
  readonly baseOrigin: string;
  readonly loginHints: LoginHints;
  /**
   * To be waited for before a request; undefined when the server allows one now. A wait that is too long, or was ended by the
   * signal, is an error.
   */
  waitForTurn(signal: AbortSignal): Promise<void> | undefined;
  /** To be sent in its turn. */
  request(request: ApiRequest): Promise<ApiResponse>;
  /** The server's clock as it last told, for an event of the ledger. */
  readonly serverTime: () => string | undefined;
}

export interface SendLaneOptions {
  readonly api: Api;
  readonly loginHints: LoginHints;
  readonly clock: Clock;
  /** The longest wait for the rate limit, in milliseconds. */
  readonly maxPause: number;
  /** Called before a wait of more than a second. */
  readonly onPause: (ms: number) => Promise<void>;
}

export function createSendLane({ api, loginHints: wayIn, clock, maxPause: pause, onPause }: SendLaneOptions): SendLane {
  let allowance: RateLimitState = noRateLimit;
  let inFlight = 0;
  let refusals = 0;
  let refusedSince: number | undefined;
  let date: number | undefined;
  let time: string | undefined;

  const take = (signal: AbortSignal): Promise<void> | undefined => {
    signal.throwIfAborted();
    const now = clock.now();
    const wait = delayBeforeRequest(allowance, now);
    if (wait > 0) return patience(wait, signal);
    allowance = rateLimitAfterSending(allowance, now);
    return undefined;
  };
  const patience = async (wait: number, signal: AbortSignal): Promise<void> => {
    // A server that answers 429 again and again is not waited for longer than one that says so at once.
    const waited = refusedSince === undefined ? 0 : clock.now() - refusedSince;
    if (wait + waited > pause) throw rateLimitError(wait, waited);
    if (wait > 1_000) await onPause(wait);
    await clock.sleep(wait, signal);
    await take(signal);
  };

  return {
    baseOrigin: api.baseOrigin,
    loginHints: wayIn,
    waitForTurn: take,
    async request(request) {
      inFlight += 1;
      const before = refusals;
      let answer: ApiResponse;
      try {
        answer = await api.request(request);
      } finally {
        inFlight -= 1;
      }
      const now = clock.now();
      // Requests that were on their way together are refused together: that is one refusal.
      refusals = answer.status === 429 ? Math.max(refusals, before + 1) : 0;
      const { status, retryAfter, limit, date: told } = answer;
      const headers = { status, retryAfter, remaining: limit?.remaining, reset: limit?.reset, date: told };
      allowance = rateLimitAfterResponse(allowance, headers, now, inFlight, refusals);
      refusedSince = status === 429 ? (refusedSince ?? now) : undefined;
      if (told !== undefined && told !== date) time = new Date(told).toISOString();
      date = told ?? date;
      return answer;
    },
    serverTime: () => time,
  };
}

/** `waited`: so long it has refused every request, in milliseconds like the wait that is left. */
function rateLimitError(wait: number, waited: number): CliError {
  const refused = waited < 60_000 ? '' : ` has refused all requests for ${Math.floor(waited / 60_000)} min and`;
  // A number without end is no time to come back at.
  const next = wait > week ? 'no request for more than a week' : `the next request in ${Math.ceil(wait / 60_000)} min`;
  return new CliError('rate_limited', 'the rate limit is reached', {
    detail: `the server${refused} takes ${next}`,
    exitCode: 5,
  });
}

const week = 7 * 24 * 3_600_000;
