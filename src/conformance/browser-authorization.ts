import { startLoopbackServer } from '../loopback/loopback-server.ts';
import { validateAuthorizationResponse } from '../oauth/authorization-response.ts';
import type { Clock } from '../platform/host.ts';
import { timeoutSignal } from '../platform/timeout-signal.ts';
import { ConformanceDifferenceError, ConformanceNotTestableError } from './conformance-difference-error.ts';
import type { BrowserAuthorizer } from './server-under-test.ts';

export interface ConformanceBrowserAuthorizationOptions {
  readonly callbackUrl: string;
  readonly clock: Clock;
  readonly random: (bytes: number) => Uint8Array;
  /** The time limit of one visit in the browser, in milliseconds. */
  readonly limitMs: number;
  readonly signal: AbortSignal;
  /** Opens the start URL in a browser. Shows the authorization URL and whether the person must approve or deny. */
  readonly show: (visit: {
    readonly startUrl: string;
    readonly authorizationUrl: string;
    readonly request: 'approve' | 'deny';
  }) => Promise<void>;
}

/** Lets a person authorize in a browser, and receives each redirect on the callback URL of this machine. */
export function createBrowserAuthorization(options: ConformanceBrowserAuthorizationOptions): BrowserAuthorizer {
  const { callbackUrl, clock, random, limitMs, show } = options;
  return async ({ url, state, flow, request }) => {
    const listener = await startLoopbackServer({
      callbackUrls: [callbackUrl],
      flow,
      authorizationOrigin: new URL(url).origin,
      authorizationUrl: () => url,
      validate: (parameters, place) => {
        const result = validateAuthorizationResponse(parameters, place, { state, flow });
        return result === undefined ? undefined : { parameters, result };
      },
      finish: async () => ({ kind: 'unfinished' }),
      random,
      clock,
    });
    const ended = timeoutSignal(limitMs, options.signal);
    const aborted = new Promise<never>((_, reject) => {
      ended.addEventListener('abort', () => {
        const late = new ConformanceNotTestableError('no redirect was received in time');
        reject(options.signal.aborted ? options.signal.reason : late);
      });
    });
    try {
      await show({ startUrl: listener.startUrl, authorizationUrl: listener.authorizationUrl, request });
      const { parameters, result } = await Promise.race([listener.taken, aborted]);
      await listener.closed;
      const received = `a redirect with ${[...parameters.keys()].join(', ')}`;
      const sent = 'GET /v1/oauth/authorize in a browser';
      if (result.kind === 'state_mismatch') throw new ConformanceDifferenceError('the same state', { sent, received });
      return Object.fromEntries(parameters);
    } finally {
      await listener.close();
    }
  };
}
