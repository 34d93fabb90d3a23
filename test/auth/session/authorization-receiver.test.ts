import { expect, it } from 'vitest';
import { validateResponse } from '../../../src/auth/oauth/authorize.ts';
import {
  type AuthorizationReceiverOptions,
  bindAuthorizationReceiver,
  createPastedAuthorizationReceiver,
} from '../../../src/auth/session/authorization-receiver.ts';
import { testHost } from '../../fixtures/host.ts';
import { visit } from '../../fixtures/login.ts';

function options(callbackUrls: readonly string[]): AuthorizationReceiverOptions {
  const { random, clock } = testHost();
  return {
    callbackUrls,
    flow: 'code',
    authorizationOrigin: 'https://cloud.example.com',
    validate: (parameters, location) => validateResponse(parameters, location, { state: 'S', flow: 'code' }),
    authorizationUrl: (redirectUri) => `https://cloud.example.com/authorize?redirect_uri=${redirectUri}`,
    random,
    clock: { ...clock, sleep: () => new Promise(() => {}) },
  };
}

it('a bound listener receives the redirect, and its tab gets the page of the outcome', async () => {
  const receiver = await bindAuthorizationReceiver(options(['http://127.0.0.1:0/callback']));
  expect(receiver.authorizationUrl).toContain(receiver.callbackUrl);
  expect(receiver.isAccepted()).toBe(false);
  const visited = visit(`${receiver.callbackUrl}?code=code-1&state=S`);
  expect(await receiver.response).toMatchObject({ kind: 'code' });
  expect(receiver.isAccepted()).toBe(true);
  receiver.showOutcome({ kind: 'signed_in', name: 'Ada' });
  receiver.showOutcome({ kind: 'access_denied' });
  expect((await visited).body).toContain('Ada');
  await receiver.closed;
});

it('a pasted response is accepted once, with a listener and without', async () => {
  const url = 'http://127.0.0.1:0/callback';
  for (const receiver of [
    await bindAuthorizationReceiver(options([url])),
    createPastedAuthorizationReceiver(options([url])),
  ]) {
    expect(receiver.accept({ kind: 'state_mismatch' })).toBe(true);
    expect(receiver.accept({ kind: 'malformed', reason: 'x' })).toBe(false);
    expect(await receiver.response).toEqual({ kind: 'state_mismatch' });
    await receiver.close();
  }
});

it('without a listener the first callback URL is the redirect URI, and one is required', () => {
  const receiver = createPastedAuthorizationReceiver(options(['http://127.0.0.1:1/a', 'http://127.0.0.1:2/b']));
  expect(receiver).toMatchObject({ callbackUrl: 'http://127.0.0.1:1/a', startUrl: undefined });
  expect(() => createPastedAuthorizationReceiver(options([]))).toThrow(expect.objectContaining({ code: 'usage' }));
});
