import { expect, it } from 'vitest';
import { refreshRequest } from '../../../src/auth/oauth/token.ts';
import { type SendTokenRefreshOptions, sendTokenRefresh } from '../../../src/auth/session/send-token-refresh.ts';
import { Secret } from '../../../src/base/secret.ts';
import { HttpSendError, type HttpSender } from '../../../src/platform/http-sender.ts';
import { testHost } from '../../fixtures/host.ts';
import { profileNamed } from '../../fixtures/profile.ts';

const origin = 'http://127.0.0.1:1';
const client = { authOrigin: origin, clientId: 'client-1', clientSecret: undefined, tokenParams: 'query' } as const;
const loginCommand = '`cloudctl auth login`';
const errorContext = {
  operation: 'refresh',
  origin,
  profile: profileNamed('default'),
  tokenParams: 'query',
  isSpecServer: false,
  loginCommand,
} as const;

/** A server that says nothing, until the request is given up. */
function silent() {
  let sent = 0;
  const send: HttpSender = (_url, { signal }) => {
    sent += 1;
    return new Promise((_resolve, reject) => {
      const end = () => reject(new HttpSendError('timeout', true, 'no answer in time'));
      if (signal.aborted) end();
      signal.addEventListener('abort', end);
    });
  };
  return { send: async () => send, sent: () => sent };
}

it('the time of a command ends a request that is under way, and what became of it is not known', async () => {
  const [{ send, sent }, over] = [silent(), new AbortController()];
  const request = refreshRequest(client, new Secret('rt-1'));
  const options: SendTokenRefreshOptions = {
    errorContext,
    deadline: over.signal,
    inDoubt: false,
    persistResponse: () => {},
  };
  const attempted = sendTokenRefresh({ createSender: send, clock: testHost().clock }, request, options);
  setTimeout(() => over.abort(), 20);
  expect(await attempted).toMatchObject({ kind: 'failed', inDoubt: true, error: { code: 'timeout', exitCode: 6 } });
  expect(sent()).toBe(2);
});
