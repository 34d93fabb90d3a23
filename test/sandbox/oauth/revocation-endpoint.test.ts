import { describe, expect, it } from 'vitest';
import type { SandboxServers } from '../../../src/sandbox/sandbox.ts';
import {
  answerConsentPage,
  authorizationQuery,
  callApi,
  type Exchange,
  errorOf,
  FORM,
  grantFor,
  locationOf,
  MAYA,
  refreshWith,
  sandboxFor,
  send,
  signIn,
} from '../requests.ts';

describe('revoke', () => {
  it('answers 200 {} and revokes both tokens of the pair', async () => {
    const sandbox = await sandboxFor();
    const { access_token, refresh_token } = await grantFor(sandbox);
    expectDone(await revoke(sandbox, { query: { token: access_token }, bearer: access_token }));
    expect((await callApi(sandbox, access_token, 'GET', '/v2/droplets')).status).toBe(404);
    expect(errorOf(await refreshWith(sandbox, refresh_token))).toBe('invalid_grant');
  });

  it('with and without Bearer, Basic or body credentials, in query and body', async () => {
    const sandbox = await sandboxFor();
    const { client_id, client_secret } = sandbox.ready;
    const basic = `Basic ${Buffer.from(`${client_id}:${client_secret}`).toString('base64')}`;
    for (const way of [
      (token: string) => revoke(sandbox, { query: { token } }),
      (token: string) => revoke(sandbox, { query: { token }, headers: { authorization: basic } }),
      (token: string) => revoke(sandbox, { query: {}, body: { token, client_id, client_secret } }),
      (token: string) => revoke(sandbox, { query: {}, body: { token }, bearer: token }),
    ]) {
      const { access_token } = await grantFor(sandbox);
      expectDone(await way(access_token));
      expect((await callApi(sandbox, access_token, 'GET', '/v2/droplets')).status).toBe(404);
    }
  });

  it.each(['null', '""', ' null\n'])('the JSON body %j is no body', async (body) => {
    const sandbox = await sandboxFor();
    const { access_token } = await grantFor(sandbox);
    const options = { method: 'POST', headers: { 'content-type': 'application/json' }, body };
    expectDone(await send(sandbox.ready.auth_url, `/v1/oauth/revoke?token=${access_token}`, options));
    expect((await callApi(sandbox, access_token, 'GET', '/v2/droplets')).status).toBe(404);
  });

  it('an unknown, revoked or refreshed token is 200 too, and its successor stays valid', async () => {
    const sandbox = await sandboxFor();
    const { access_token, refresh_token } = await grantFor(sandbox);
    const fresh = JSON.parse((await refreshWith(sandbox, refresh_token)).body);
    for (const token of ['nonsense', 'sandbox_unknown', access_token, access_token, refresh_token]) {
      expectDone(await revoke(sandbox, { query: { token } }));
    }
    expect((await callApi(sandbox, fresh.access_token, 'GET', '/v2/droplets')).status).toBe(200);
  });

  it('a missing token, a repeated token and a different bearer token are invalid_request, and nothing is revoked', async () => {
    const sandbox = await sandboxFor();
    const one = await grantFor(sandbox);
    const two = await grantFor(sandbox);
    for (const answer of [
      await revoke(sandbox, { query: {}, bearer: one.access_token }),
      await revoke(sandbox, { query: { token: '' } }),
      await revoke(sandbox, { query: { token: one.access_token }, body: { token: one.access_token } }),
      await revoke(sandbox, { query: { token: one.access_token }, bearer: two.access_token }),
    ]) {
      expect([answer.status, errorOf(answer)]).toEqual([400, 'invalid_request']);
    }
    for (const { access_token } of [one, two]) {
      expect((await callApi(sandbox, access_token, 'GET', '/v2/droplets')).status).toBe(200);
    }
  });

  it('does not change the approval', async () => {
    const sandbox = await sandboxFor();
    const cookie = await signIn(sandbox, MAYA);
    const { access_token } = await grantFor(sandbox);
    expectDone(await revoke(sandbox, { query: { token: access_token } }));
    const page = await send(
      sandbox.ready.auth_url,
      `/v1/oauth/authorize?${authorizationQuery(sandbox, { prompt: 'none' })}`,
      {
        headers: { cookie },
      },
    );
    expect(locationOf(page).searchParams.has('code')).toBe(true);
    expect((await answerConsentPage(sandbox, cookie, authorizationQuery(sandbox))).status).toBe(303);
  });
});

function revoke(
  { ready }: SandboxServers,
  request: {
    readonly query: Readonly<Record<string, string>>;
    readonly body?: Readonly<Record<string, string>>;
    readonly bearer?: string;
    readonly headers?: Readonly<Record<string, string>>;
  },
): Promise<Exchange> {
  return send(ready.auth_url, `/v1/oauth/revoke?${new URLSearchParams(request.query)}`, {
    method: 'POST',
    headers: {
      ...request.headers,
      ...(request.bearer === undefined ? {} : { authorization: `Bearer ${request.bearer}` }),
      ...(request.body === undefined ? {} : FORM),
    },
    ...(request.body === undefined ? {} : { body: new URLSearchParams(request.body).toString() }),
  });
}

function expectDone(answer: Exchange): void {
  expect([answer.status, answer.body, answer.headers['content-type']]).toEqual([200, '{}', 'application/json']);
}
