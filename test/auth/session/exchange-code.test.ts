import { expect, it } from 'vitest';
import { validateResponse } from '../../../src/auth/oauth/authorize.ts';
import { type AuthorizationCodeExchangeDeps, exchangeCodeForTokens } from '../../../src/auth/session/exchange-code.ts';
import { buildLoginRetryCommands } from '../../../src/auth/session/suggested-commands.ts';
import { Secret } from '../../../src/base/secret.ts';
import { HttpSendError } from '../../../src/platform/http-sender.ts';
import { reply, serverFor } from '../../fixtures/fake-server.ts';
import { testHost } from '../../fixtures/host.ts';
import { profileNamed } from '../../fixtures/profile.ts';

function validatedCode() {
  const response = validateResponse(
    new Map([
      ['code', 'code-1'],
      ['state', 'S'],
    ]),
    'query',
    { state: 'S', flow: 'code' },
  );
  if (response?.kind !== 'code') throw new Error('no code');
  return response.code;
}

function exchange(deps: Pick<AuthorizationCodeExchangeDeps, 'createSender'>, origin = 'https://cloud.example.com') {
  const client = { authOrigin: origin, clientId: 'c', clientSecret: new Secret('s'), tokenParams: 'body' } as const;
  const commands = buildLoginRetryCommands(profileNamed('default'), { flow: 'code', scope: undefined }, undefined);
  const signal = new AbortController().signal;
  return exchangeCodeForTokens(
    { ...deps, client, profile: profileNamed('default'), loginCommands: commands, isSpecServer: () => false },
    { code: validatedCode(), redirectUri: 'http://127.0.0.1:1/callback', pkce: undefined, signal },
  );
}

it.each([
  ['that was not sent is tried three times', 'refused', false, 3, 'unreachable'],
  ['that may have arrived is tried once', 'connection', true, 1, 'unreachable'],
  ['to a server with an untrusted certificate is tried once', 'tls', false, 1, 'tls'],
] as const)('an exchange %s', async (_what, kind, sent, tries, code) => {
  let attempts = 0;
  const createSender = async () => () => {
    attempts += 1;
    return Promise.reject(new HttpSendError(kind, sent, 'no'));
  };
  await expect(exchange({ createSender })).rejects.toMatchObject({ code, exitCode: 6 });
  expect(attempts).toBe(tries);
});

it('an exchange sends the code, the redirect URI and the credentials, and returns the grant', async () => {
  const grant = { access_token: 'at-1', token_type: 'bearer', expires_in: 60 };
  const { origin, seen } = await serverFor((_, response) => reply(response, 200, grant));
  const host = testHost();
  const result = await exchange({ createSender: () => host.createSender({ env: {}, fresh: true }) }, origin);
  expect(result.accessToken.reveal()).toBe('at-1');
  expect(Object.fromEntries(new URLSearchParams(seen[0]?.body))).toEqual({
    grant_type: 'authorization_code',
    code: 'code-1',
    client_id: 'c',
    client_secret: 's',
    redirect_uri: 'http://127.0.0.1:1/callback',
  });
});

it('a refused exchange is not repeated', async () => {
  const { origin, seen } = await serverFor((_, response) => reply(response, 400, { error: 'invalid_grant' }));
  const host = testHost();
  const createSender = () => host.createSender({ env: {}, fresh: true });
  await expect(exchange({ createSender }, origin)).rejects.toMatchObject({ code: 'invalid_grant', status: 400 });
  expect(seen).toHaveLength(1);
});
