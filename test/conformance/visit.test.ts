import { expect, it } from 'vitest';
import { send } from '../sandbox/requests.ts';
import { DifferenceError, NotTestableError } from './response.ts';
import { type VisitOptions, visitInBrowser } from './visit.ts';

const callbackPort = 18_765 + (process.pid % 1000);
const callbackUrl = `http://127.0.0.1:${callbackPort}/callback`;
const url = 'https://cloud.example.com/v1/oauth/authorize?client_id=x';

function visitWith(target: string, changes: Partial<VisitOptions> = {}) {
  const shown: unknown[] = [];
  const pages: string[] = [];
  const visit = visitInBrowser({
    callbackUrl,
    limitMs: 5_000,
    signal: new AbortController().signal,
    show: (...addresses) => {
      shown.push(addresses);
      if (target !== '') void send(`http://127.0.0.1:${callbackPort}`, target).then(({ body }) => pages.push(body));
    },
    ...changes,
  });
  return { shown, pages, ended: visit({ url, state: 'the-state-of-this-visit', request: 'approve' }) };
}

it('returns the parameters of the redirect, and shows the authorization URL', async () => {
  const { shown, ended } = visitWith('/callback?code=abc&state=the-state-of-this-visit');
  expect(await ended).toEqual({ code: 'abc', state: 'the-state-of-this-visit' });
  expect(shown).toEqual([[url, 'approve']]);
});

it('a redirect without parameters gets the page that moves the fragment into the query', async () => {
  const { pages, ended } = visitWith('/callback', { limitMs: 300 });
  await expect(ended).rejects.toBeInstanceOf(NotTestableError);
  expect(pages.join()).toContain('location.hash');
});

it('a request for another path is no redirect', async () => {
  const { ended } = visitWith('/other?code=abc&state=the-state-of-this-visit', { limitMs: 300 });
  await expect(ended).rejects.toBeInstanceOf(NotTestableError);
});

it('another state is a difference', async () => {
  await expect(visitWith('/callback?code=abc&state=another').ended).rejects.toBeInstanceOf(DifferenceError);
});

it('without a redirect in time, the statement is not testable', async () => {
  await expect(visitWith('', { limitMs: 50 }).ended).rejects.toBeInstanceOf(NotTestableError);
});

it('an interruption ends the visit', async () => {
  const end = new AbortController();
  const { ended } = visitWith('', { signal: end.signal });
  setTimeout(() => end.abort(new Error('interrupted')), 20);
  await expect(ended).rejects.toThrow('interrupted');
});
