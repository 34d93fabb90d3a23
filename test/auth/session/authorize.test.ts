import { describe, expect, it } from 'vitest';
import { validateResponse } from '../../../src/auth/oauth/authorize.ts';
import { type Attempt, openReceiver, type Receiver, requireReachable } from '../../../src/auth/session/authorize.ts';
import { unreachableHint } from '../../../src/auth/session/hints.ts';
import { SendError } from '../../../src/platform/http-sender.ts';
import { testHost } from '../../fixtures/host.ts';
import { loginRequest, silentDialog, visit } from '../../fixtures/login.ts';
import { settingsOf } from '../../fixtures/session.ts';

const binding = { authOrigin: 'https://cloud.example.com', baseOrigin: 'https://api.example.com', clientId: 'c' };

/** An attempt with the state `S`. */
const attempt: Attempt = {
  pkce: undefined,
  validate: (parameters, location) => validateResponse(parameters, location, { state: 'S', flow: 'code' }),
  authorizationUrl: (redirectUri) => `https://cloud.example.com/authorize?redirect_uri=${redirectUri}`,
};

async function open(listen: boolean, callbackUrls: readonly string[]): Promise<Receiver> {
  const host = testHost();
  const clock = { ...host.clock, sleep: () => new Promise<void>(() => {}) };
  const run = { host: { ...host, clock }, binding };
  return openReceiver(run, { ...loginRequest, listen }, silentDialog(), attempt, callbackUrls);
}

describe('the receiver of the authorization response', () => {
  it('with a listener receives the redirect, and its tab gets the page of the outcome', async () => {
    const receiver = await open(true, ['http://127.0.0.1:0/callback']);
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

  it.each([true, false])('accepts a pasted response once; with a listener: %s', async (listen) => {
    const receiver = await open(listen, ['http://127.0.0.1:0/callback']);
    expect(receiver.accept({ kind: 'state_mismatch' })).toBe(true);
    expect(receiver.accept({ kind: 'malformed', reason: 'x' })).toBe(false);
    expect(await receiver.response).toEqual({ kind: 'state_mismatch' });
    await receiver.close();
  });

  it('without a listener has the first callback URL as the redirect URI, and requires one', async () => {
    const receiver = await open(false, ['http://127.0.0.1:1/a', 'http://127.0.0.1:2/b']);
    expect(receiver).toMatchObject({ callbackUrl: 'http://127.0.0.1:1/a', startUrl: undefined });
    await expect(open(false, [])).rejects.toMatchObject({ code: 'usage' });
  });
});

describe('the check whether this machine reaches the authorization server', () => {
  /** Fails this often, then succeeds. */
  function probeThatFails(failures: number) {
    let calls = 0;
    const probe = async (): Promise<void> => {
      calls += 1;
      if (calls <= failures) throw new SendError('connection', false, 'could not connect to https://auth.example.com');
    };
    return { probe, calls: () => calls };
  }

  /** A machine on which no time passes. */
  function runOf() {
    const host = testHost();
    const settings = settingsOf({
      ready: { auth_url: binding.authOrigin, base_url: binding.baseOrigin, client_id: 'c', callback_url: '' },
    });
    return { host: { ...host, clock: { ...host.clock, sleep: async () => undefined } }, binding, settings };
  }

  it('names a server that cannot be reached three times', async () => {
    const { probe, calls } = probeThatFails(3);
    const run = runOf();
    await expect(requireReachable(run, new AbortController().signal, probe)).rejects.toMatchObject({
      code: 'unreachable',
      exitCode: 6,
      message: expect.stringContaining('https://auth.example.com'),
      hint: unreachableHint(run.settings, 'auth_url'),
    });
    expect(calls()).toBe(3);
  });

  it.each([
    [
      new SendError('tls', false, 'no trusted CA', { unknownIssuer: true, hint: 'set SSL_CERT_FILE' }),
      'set SSL_CERT_FILE',
    ],
    [new SendError('tls', false, 'certificate has expired'), 'check the host name, the dates of the certificate'],
    [new SendError('connection', false, '407', { atProxy: true, hint: 'check the password' }), 'check the password'],
  ])('asks once where another attempt fails as well: %s', async (error, hint) => {
    let calls = 0;
    const probe = async (): Promise<void> => {
      calls += 1;
      throw error;
    };
    await expect(requireReachable(runOf(), new AbortController().signal, probe)).rejects.toMatchObject({
      hint: expect.stringContaining(hint),
    });
    expect(calls).toBe(1);
  });

  it('is satisfied when the server is reached, also at the third attempt', async () => {
    const { probe, calls } = probeThatFails(2);
    await expect(requireReachable(runOf(), new AbortController().signal, probe)).resolves.toBeUndefined();
    expect(calls()).toBe(3);
  });
});
