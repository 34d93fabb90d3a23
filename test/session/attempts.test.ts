import { expect, it } from 'vitest';
import { refreshRequest } from '../../src/oauth/token-endpoint.ts';
import { type Send, SendError } from '../../src/platform/send.ts';
import { Secret } from '../../src/secret.ts';
import { type AttemptOptions, attempts, notGranted } from '../../src/session/attempts.ts';
import { testHost } from '../fixtures/host.ts';

const origin = 'http://127.0.0.1:1';
const client = { authOrigin: origin, clientId: 'client-1', clientSecret: undefined, tokenParams: 'query' } as const;
const server = { origin, profile: 'default', tokenParams: 'query', isOfSpec: false } as const;

/** A server that says nothing, until the request is given up. */
function silent() {
  let sent = 0;
  const send: Send = (_url, { signal }) => {
    sent += 1;
    return new Promise((_resolve, reject) => {
      const end = () => reject(new SendError('timeout', true, 'no answer in time'));
      if (signal.aborted) end();
      signal.addEventListener('abort', end);
    });
  };
  return { send: async () => send, sent: () => sent };
}

it('the time of a command ends a request that is under way, and what became of it is not known', async () => {
  const [{ send, sent }, over] = [silent(), new AbortController()];
  const request = refreshRequest(client, new Secret('rt-1'));
  const options: AttemptOptions = { server, deadline: over.signal, inDoubt: false, keep: () => {} };
  const attempted = attempts({ send, clock: testHost().clock }, request, options);
  setTimeout(() => over.abort(), 20);
  expect(await attempted).toMatchObject({ kind: 'failed', inDoubt: true, error: { code: 'timeout', exitCode: 6 } });
  expect(sent()).toBe(2);
});

it.each([
  [{ kind: 'malformed', status: 503, reason: 'not JSON' }, 'api_error', /answered 503$/],
  [{ kind: 'malformed', status: 408, reason: 'not JSON' }, 'api_error', /answered 408$/],
  [{ kind: 'malformed', status: 200, reason: 'not JSON' }, 'api_error', /is not understood$/],
  [{ kind: 'refused', status: 500, error: 'server_error' }, 'api_error', /answered server_error$/],
  [{ kind: 'refused', status: 401, error: 'invalid_client' }, 'invalid_client', /answered invalid_client$/],
] as const)('%j is told as what it is, and that the session was kept', (result, code, message) => {
  const { status } = result;
  const error = notGranted(server, result);
  expect(error).toMatchObject({ code, status, message: expect.stringMatching(message) });
  expect(error.detail).toMatch(/; the session was kept$/);
});
