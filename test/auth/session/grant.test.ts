import { expect, it } from 'vitest';
import { type AuthorizationResult, validateResponse } from '../../../src/auth/oauth/authorize.ts';
import type { TokenGrant } from '../../../src/auth/oauth/grant.ts';
import type { LoginRequest, ScopePolicy } from '../../../src/auth/session/authorize.ts';
import { confirmScope, exchangeCode, requireAccount, requireGrant } from '../../../src/auth/session/grant.ts';
import { loginRetries } from '../../../src/auth/session/hints.ts';
import type { SessionRun } from '../../../src/auth/session/run.ts';
import { CliError } from '../../../src/base/errors.ts';
import { Secret } from '../../../src/base/secret.ts';
import { SendError } from '../../../src/platform/http-sender.ts';
import { reply, serverFor } from '../../fixtures/fake-server.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { testHost } from '../../fixtures/host.ts';
import { loginRequest } from '../../fixtures/login.ts';
import { profileNamed } from '../../fixtures/profile.ts';
import { settingsOf } from '../../fixtures/session.ts';

const retryOf = (flow: LoginRequest['flow']) =>
  loginRetries(profileNamed('default'), { flow, scope: undefined }, undefined);

function errorOf(result: AuthorizationResult, flow: 'code' | 'implicit', prompt?: string): CliError {
  try {
    requireGrant(result, { request: { prompt }, retry: retryOf(flow) });
  } catch (error) {
    if (error instanceof CliError) return error;
  }
  throw new Error('no CliError');
}

const textOf = ({ code, message, detail, hint }: CliError): string =>
  `${code}: ${message}\ndetail: ${detail}\nhint: ${hint}`;

it.each([
  ['access_denied', 4],
  ['consent_required', 4],
  ['login_required', 4],
  ['interaction_required', 4],
  ['account_selection_required', 4],
  ['invalid_scope', 4],
  ['server_error', 1],
  ['temporarily_unavailable', 1],
  ['unsupported_response_type', 1],
  ['unauthorized_client', 1],
  ['unknown', 1],
] as const)('the error %s of the redirect ends with exit %d', (error, exitCode) => {
  const found = errorOf({ kind: 'error', error, description: 'of the\u001b[31m server' }, 'code');
  expect(found.exitCode).toBe(exitCode);
  expect(found.detail).not.toContain('\u001b');
  expectGolden('errors', textOf(found));
});

it.each(['consent_required', 'login_required', 'interaction_required', 'account_selection_required'] as const)(
  'after --prompt none %s suggests a login without it',
  (error) => {
    expectGolden('errors', textOf(errorOf({ kind: 'error', error }, 'code', 'none')));
  },
);

it('each flow suggests the other one when the server does not support it', () => {
  for (const flow of ['code', 'implicit'] as const) {
    const { hint } = errorOf({ kind: 'error', error: 'unsupported_response_type' }, flow);
    const other = flow === 'code' ? '`cloudctl auth login --flow implicit`' : '`cloudctl auth login`';
    expect(hint?.endsWith(other)).toBe(true);
  }
});

it('a response with another state, or a malformed one, is its own error', () => {
  expect(errorOf({ kind: 'state_mismatch' }, 'code')).toMatchObject({ code: 'state_mismatch', exitCode: 4 });
  expectGolden('errors', textOf(errorOf({ kind: 'state_mismatch' }, 'code')), 'state');
  for (const flow of ['code', 'implicit'] as const)
    expectGolden('errors', textOf(errorOf({ kind: 'malformed', reason: 'has no code' }, flow)), flow);
});

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

function exchange(send: SessionRun['send'], origin = 'https://cloud.example.com') {
  const client = { authOrigin: origin, clientId: 'c', clientSecret: new Secret('s'), tokenParams: 'body' } as const;
  const settings = settingsOf({
    ready: { auth_url: origin, base_url: origin, client_id: 'c', callback_url: 'http://127.0.0.1:1/callback' },
  });
  return exchangeCode(
    { send, settings },
    {
      ...{ client, code: validatedCode(), redirectUri: 'http://127.0.0.1:1/callback', pkce: undefined },
      retry: retryOf('code'),
      isSpecServer: () => false,
      signal: new AbortController().signal,
    },
  );
}

it.each([
  ['that was not sent is tried three times', 'refused', false, 3, 'unreachable'],
  ['that may have arrived is tried once', 'connection', true, 1, 'unreachable'],
  ['to a server with an untrusted certificate is tried once', 'tls', false, 1, 'tls'],
] as const)('an exchange %s', async (_what, kind, sent, tries, code) => {
  let attempts = 0;
  const send = async () => () => {
    attempts += 1;
    return Promise.reject(new SendError(kind, sent, 'no'));
  };
  await expect(exchange(send)).rejects.toMatchObject({ code, exitCode: 6 });
  expect(attempts).toBe(tries);
});

it('an exchange sends the code, the redirect URI and the credentials, and returns the grant', async () => {
  const grant = { access_token: 'at-1', token_type: 'bearer', expires_in: 60 };
  const { origin, seen } = await serverFor((_, response) => reply(response, 200, grant));
  const host = testHost();
  const result = await exchange((options) => host.createSender({ env: {}, ...options }), origin);
  expect(result.accessToken.reveal()).toBe('at-1');
  expect(Object.fromEntries(new URLSearchParams(seen[0]?.body))).toEqual({
    grant_type: 'authorization_code',
    code: 'code-1',
    client_id: 'c',
    client_secret: 's',
    redirect_uri: 'http://127.0.0.1:1/callback',
  });
});

it.each([
  ['both tokens', { access_token: 'at-1', refresh_token: 'rt-1', token_type: 'bearer', expires_in: 0 }, 2],
  ['an access token', { access_token: 'at-1', token_type: 'bearer', expires_in: 60, refresh_token: 7 }, 1],
])('%s of a response that is no valid grant are revoked', async (_, grant, revocations) => {
  const { origin, seen } = await serverFor((_, response) => reply(response, 200, grant));
  const host = testHost();
  await expect(exchange((options) => host.createSender({ env: {}, ...options }), origin)).rejects.toMatchObject({
    code: 'api_error',
  });
  expect(seen.map(({ url }) => url)).toEqual(['/v1/oauth/token', ...Array(revocations).fill('/v1/oauth/revoke')]);
});

it('a refused exchange is not repeated', async () => {
  const { origin, seen } = await serverFor((_, response) => reply(response, 400, { error: 'invalid_grant' }));
  const host = testHost();
  const send: SessionRun['send'] = (options) => host.createSender({ env: {}, ...options });
  await expect(exchange(send, origin)).rejects.toMatchObject({ code: 'invalid_grant', status: 400 });
  expect(seen).toHaveLength(1);
});

const grantOf = (changes: Partial<TokenGrant>): TokenGrant => ({ accessToken: new Secret('at-1'), ...changes });
const requestOf = (changes: Partial<LoginRequest>): LoginRequest => ({ ...loginRequest, ...changes });

async function confirm(grant: Partial<TokenGrant>, scope: string | undefined, onOtherScope: ScopePolicy) {
  let questions = 0;
  const onQuestion = (): void => void questions++;
  const signal = new AbortController().signal;
  const options = { request: requestOf({ scope }), retry: retryOf('code'), onOtherScope, onQuestion, signal };
  return { scope: await confirmScope(grantOf(grant), options), questions };
}

it('a granted scope that is the requested one, in any order, is stored without a question', async () => {
  const refuse = async (): Promise<boolean> => false;
  expect(await confirm({ scope: 'write read' }, 'read write', refuse)).toEqual({ scope: 'write read', questions: 0 });
  expect(await confirm({ scope: 'read' }, undefined, refuse)).toEqual({ scope: 'read', questions: 0 });
});

it('a grant without a scope has the requested one', async () => {
  expect(await confirm({}, 'read write', 'refuse')).toEqual({ scope: 'read write', questions: 0 });
});

it('another scope is accepted, refused or asked about', async () => {
  expect(await confirm({ scope: 'read' }, 'read write', 'accept')).toEqual({ scope: 'read', questions: 0 });
  expect(await confirm({ scope: 'read' }, 'read write', async () => true)).toEqual({ scope: 'read', questions: 1 });
  const code = 'scope_mismatch';
  await expect(confirm({ scope: 'read' }, 'read write', 'refuse')).rejects.toMatchObject({ code, exitCode: 4 });
  await expect(confirm({ scope: 'read' }, 'read write', async () => false)).rejects.toMatchObject({ code });
});

it.each([
  [{}, { uuid: 'abcdef12' }, true],
  [{ accountHint: 'ABCDEF' }, { uuid: 'abcdef12' }, true],
  [{ accountHint: 'abcdef' }, {}, true],
  [{ accountHint: 'abcdef' }, { uuid: '123456ab' }, false],
  [{ accountHint: 'abcdef', accountUuid: 'abcdef12' }, { uuid: 'ABCDEF12' }, true],
  [{ accountHint: 'abcdef', accountUuid: 'abcdef12' }, { uuid: 'abcdef99' }, false],
  [{ accountHint: 'abcdef', accountUuid: 'abcdef12' }, {}, false],
] as const)('for the request %j the account %j is the requested one: %s', (request, info, isRequested) => {
  const check = (): void =>
    requireAccount(grantOf({ info }), requestOf(request), { retry: retryOf('code'), known: undefined });
  if (isRequested) expect(check).not.toThrow();
  else expect(check).toThrow(expect.objectContaining({ code: 'login_required' }));
});
