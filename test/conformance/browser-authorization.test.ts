import { expect, it } from 'vitest';
import {
  type ConformanceBrowserAuthorizationOptions,
  createBrowserAuthorization,
} from '../../src/conformance/browser-authorization.ts';
import {
  ConformanceDifferenceError,
  ConformanceNotTestableError,
} from '../../src/conformance/conformance-difference-error.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { send } from '../sandbox/requests.ts';

const callbackPort = 18_765 + (process.pid % 1000);
const callbackUrl = `http://127.0.0.1:${callbackPort}/callback`;
const url = 'https://cloud.example.com/v1/oauth/authorize?client_id=x';

function visitWith(answer: string, changes: Partial<ConformanceBrowserAuthorizationOptions> = {}) {
  const shown: unknown[] = [];
  const visit = createBrowserAuthorization({
    callbackUrl,
    clock: systemClock,
    random: (bytes) => crypto.getRandomValues(new Uint8Array(bytes)),
    limitMs: 5_000,
    signal: new AbortController().signal,
    show: async (addresses) => {
      shown.push(addresses);
      if (answer === '') return;
      // The tab follows redirects of the listener to its last page.
      void (async () => {
        for (let path: string | undefined = `/callback?${answer}`; path !== undefined; ) {
          const response = await send(`http://127.0.0.1:${callbackPort}`, path);
          path = response.headers.location;
        }
      })().catch(() => undefined);
    },
    ...changes,
  });
  return { shown, ended: visit({ url, state: 'the-state-of-this-visit', flow: 'code', request: 'approve' }) };
}

it('returns the parameters of the redirect, and shows the authorization URL', async () => {
  const { shown, ended } = visitWith('code=abc&state=the-state-of-this-visit');
  expect(await ended).toEqual({ code: 'abc', state: 'the-state-of-this-visit' });
  expect(shown).toEqual([expect.objectContaining({ authorizationUrl: url, request: 'approve' })]);
});

it('another state is a difference', async () => {
  await expect(visitWith('code=abc&state=another').ended).rejects.toBeInstanceOf(ConformanceDifferenceError);
});

it('without a redirect in time, the statement is not testable', async () => {
  await expect(visitWith('', { limitMs: 50 }).ended).rejects.toBeInstanceOf(ConformanceNotTestableError);
});

it('an interruption ends the visit', async () => {
  const end = new AbortController();
  const { ended } = visitWith('', { signal: end.signal });
  setTimeout(() => end.abort(new Error('interrupted')), 20);
  await expect(ended).rejects.toThrow('interrupted');
});
