import { describe, expect, it } from 'vitest';
import type { SandboxServers } from '../../../src/sandbox/sandbox.ts';
import {
  admin,
  answerConsentPage,
  authorizationQuery,
  callApi,
  codeFor,
  type Exchange,
  errorOf,
  exchangeParameters,
  FORM,
  grantFor,
  locationOf,
  MAYA,
  postToken,
  refreshWith,
  sandboxFor,
  send,
  signIn,
  TOMAS,
  tokenFor,
  userOf,
} from '../requests.ts';

describe('a code expires after 10 minutes', () => {
  it('is valid for 10 minutes of the virtual clock', async () => {
    const sandbox = await sandboxFor();
    await admin(sandbox, 'POST', '/_sandbox/clock', { freeze: true });
    const early = await codeFor(sandbox);
    const late = await codeFor(sandbox);
    await admin(sandbox, 'POST', '/_sandbox/clock', { advance: 10 * 60_000 - 1_000 });
    expect((await postToken(sandbox, exchangeParameters(sandbox, early))).status).toBe(200);
    await admin(sandbox, 'POST', '/_sandbox/clock', { advance: '1s' });
    expectError(await postToken(sandbox, exchangeParameters(sandbox, late)), 400, 'invalid_grant');
  });
});

describe('parameters are accepted in the query and in other encodings', () => {
  it('a form body, a JSON body, and both with the credentials in Basic', async () => {
    const sandbox = await sandboxFor();
    const { client_id, client_secret } = sandbox.ready;
    const authorization = `Basic ${Buffer.from(`${client_id}:${client_secret}`).toString('base64')}`;
    const json = { 'content-type': 'application/json; charset=utf-8' };
    for (const { headers, encode, basic } of [
      { headers: FORM, encode: form, basic: false },
      { headers: json, encode: JSON.stringify, basic: false },
      { headers: FORM, encode: form, basic: true },
      { headers: json, encode: JSON.stringify, basic: true },
    ]) {
      const { client_id: _id, client_secret: _secret, ...bare } = exchangeParameters(sandbox, await codeFor(sandbox));
      const answer = await post(sandbox, '', {
        headers: { ...headers, ...(basic ? { authorization } : {}) },
        body: encode(basic ? bare : { ...bare, client_id, client_secret }),
      });
      expect(answer.status).toBe(200);
    }
  });

  it('parameters split between query and body', async () => {
    const sandbox = await sandboxFor();
    const { code, ...rest } = exchangeParameters(sandbox, await codeFor(sandbox));
    expect((await post(sandbox, form(rest), { headers: FORM, body: form({ code: code ?? '' }) })).status).toBe(200);
  });

  it('Basic is read as it stands first, then form-decoded', async () => {
    const sandbox = await sandboxFor();
    const { client_id, client_secret } = sandbox.ready;
    const encoded = `${client_id}:${client_secret}`.replaceAll(/[A-C]/g, (c) => `%${c.charCodeAt(0).toString(16)}`);
    const { client_id: _id, client_secret: _secret, ...bare } = exchangeParameters(sandbox, await codeFor(sandbox));
    const authorization = `Basic ${Buffer.from(encoded).toString('base64')}`;
    expect((await post(sandbox, form(bare), { headers: { authorization } })).status).toBe(200);
  });

  it('a repeated parameter is invalid_request, in query and body', async () => {
    const sandbox = await sandboxFor();
    const good = exchangeParameters(sandbox, await codeFor(sandbox));
    for (const [name, value] of Object.entries(good)) {
      expectError(await post(sandbox, `${form(good)}&${form({ [name]: value })}`), 400, 'invalid_request');
      expectError(
        await post(sandbox, form(good), { headers: FORM, body: form({ [name]: value }) }),
        400,
        'invalid_request',
      );
    }
    const twice = `{"grant_type":"refresh_token","refresh_token":"a","refresh_token":"a"}`;
    expectError(await post(sandbox, '', { headers: JSON_TYPE, body: twice }), 400, 'invalid_request');
    expect((await postToken(sandbox, good)).status).toBe(200);
  });

  it('repeated credentials are invalid_request', async () => {
    const sandbox = await sandboxFor();
    const good = exchangeParameters(sandbox, await codeFor(sandbox));
    const { client_id, client_secret } = sandbox.ready;
    const basic = `Basic ${Buffer.from(`${client_id}:${client_secret}`).toString('base64')}`;
    expectError(await post(sandbox, form(good), { headers: { authorization: basic } }), 400, 'invalid_request');
    const { client_secret: _secret, ...named } = good;
    expectError(
      await post(sandbox, form({ ...named, client_id: 'other' }), { headers: { authorization: basic } }),
      400,
      'invalid_request',
    );
    expectError(
      await post(sandbox, form(named), { headers: { authorization: [basic, basic] } }),
      400,
      'invalid_request',
    );
    expect((await post(sandbox, form(named), { headers: { authorization: basic } })).status).toBe(200);
  });

  it('a JSON body must be an object of strings, otherwise invalid_request; bodies of other types are ignored', async () => {
    const sandbox = await sandboxFor();
    for (const body of ['{', '[]', 'null', '"x"', '{"grant_type":1}', '{"grant_type":["refresh_token"]}']) {
      expectError(await post(sandbox, '', { headers: JSON_TYPE, body }), 400, 'invalid_request');
    }
    const text = await post(sandbox, '', {
      headers: { 'content-type': 'text/plain' },
      body: 'grant_type=refresh_token',
    });
    expectError(text, 400, 'invalid_request');
    expect(JSON.parse(text.body).error_description).toContain('application/x-www-form-urlencoded');
  });

  it.each(['null', '""', ' null\n'])('the JSON body %j is no body', async (body) => {
    const sandbox = await sandboxFor();
    const good = exchangeParameters(sandbox, await codeFor(sandbox));
    expect((await post(sandbox, form(good), { headers: JSON_TYPE, body })).status).toBe(200);
  });
});

describe('a token response', () => {
  it('is 200, application/json, not cached, with the fields of the specification', async () => {
    const sandbox = await sandboxFor();
    const answer = await postToken(sandbox, exchangeParameters(sandbox, await codeFor(sandbox)));
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe('application/json');
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(answer.headers.pragma).toBe('no-cache');
    const { email, uuid } = userOf(sandbox, MAYA);
    expect(JSON.parse(answer.body)).toStrictEqual({
      access_token: expect.stringMatching(/^sandbox_[A-Za-z0-9]+$/),
      token_type: 'bearer',
      expires_in: 2_592_000,
      refresh_token: expect.stringMatching(/^sandbox_[A-Za-z0-9]+$/),
      scope: 'read',
      info: { name: 'Maya Lindqvist', email, uuid },
    });
    expect(answer.body).not.toContain('null');
  });

  it('names the team only under a team', async () => {
    const sandbox = await sandboxFor();
    const [team] = userOf(sandbox, TOMAS).teams;
    const under = await grantFor(sandbox, { email: TOMAS, fields: { account: team?.uuid ?? '' } });
    expect(under.info).toMatchObject({ team_uuid: team?.uuid, team_name: 'Harbour Works' });
    const alone = await grantFor(sandbox, { email: TOMAS });
    expect(Object.keys(alone.info)).toEqual(['name', 'email', 'uuid']);
  });
});

describe('an invalid code is invalid_grant', () => {
  it('unknown, replayed, wrong redirect_uri; neither a failed exchange nor a replay revokes anything', async () => {
    const sandbox = await sandboxFor();
    const good = exchangeParameters(sandbox, await codeFor(sandbox));
    expectError(await postToken(sandbox, { ...good, code: 'unknown' }), 400, 'invalid_grant');
    expectError(await postToken(sandbox, { ...good, redirect_uri: `${good.redirect_uri}/` }), 400, 'invalid_grant');
    const grant = await postToken(sandbox, good);
    expect(grant.status).toBe(200);
    expectError(await postToken(sandbox, good), 400, 'invalid_grant');
    const { access_token, refresh_token } = JSON.parse(grant.body);
    expect((await callApi(sandbox, access_token, 'GET', '/v2/droplets')).status).toBe(200);
    expect((await refreshWith(sandbox, refresh_token)).status).toBe(200);
  });

  it('of another client, which does not use up the code', async () => {
    const sandbox = await sandboxFor();
    const other = sandbox.world.seed.applications[1];
    const good = exchangeParameters(sandbox, await codeFor(sandbox));
    const stolen = { ...good, client_id: other?.clientId ?? '', client_secret: other?.clientSecret ?? '' };
    expectError(await postToken(sandbox, stolen), 400, 'invalid_grant');
    expect((await postToken(sandbox, good)).status).toBe(200);
  });

  it('with revokeOnReplay a replay revokes the successors of the code', async () => {
    const sandbox = await sandboxFor({ revokeOnReplay: true });
    const good = exchangeParameters(sandbox, await codeFor(sandbox));
    const grant = JSON.parse((await postToken(sandbox, good)).body);
    const refreshed = JSON.parse((await refreshWith(sandbox, grant.refresh_token)).body);
    expectError(await postToken(sandbox, good), 400, 'invalid_grant');
    expect((await callApi(sandbox, refreshed.access_token, 'GET', '/v2/droplets')).status).toBe(404);
    expectError(await refreshWith(sandbox, refreshed.refresh_token), 400, 'invalid_grant');
  });

  it('wrong, unknown or missing credentials are invalid_client, checked first', async () => {
    const sandbox = await sandboxFor();
    const good = exchangeParameters(sandbox, await codeFor(sandbox));
    for (const changes of [
      { client_secret: 'wrong' },
      { client_secret: undefined },
      { client_id: 'unknown' },
      { client_id: undefined },
      { client_id: undefined, client_secret: undefined },
      { client_secret: 'wrong', code: undefined },
      { client_secret: undefined, redirect_uri: undefined, code: 'unknown' },
      { client_secret: 'wrong', grant_type: 'password' },
    ]) {
      const answer = await postToken(sandbox, { ...good, ...changes });
      expectError(answer, 401, 'invalid_client');
      expect(answer.headers['www-authenticate']).toBeUndefined();
    }
    expect((await postToken(sandbox, good)).status).toBe(200);
  });
});

describe('errors', () => {
  it('WWW-Authenticate is sent only if the request has Authorization', async () => {
    const sandbox = await sandboxFor();
    const { client_id: _id, client_secret: _secret, ...bare } = exchangeParameters(sandbox, await codeFor(sandbox));
    for (const authorization of [
      'Basic',
      'Basic !',
      'Basic eA==',
      'Basic eDp5',
      `Basic ${Buffer.from(`${sandbox.ready.client_id}:`).toString('base64')}`,
    ]) {
      const answer = await post(sandbox, form(bare), { headers: { authorization } });
      expectError(answer, 401, 'invalid_client');
      expect(answer.headers['www-authenticate']).toMatch(/^Basic realm=/);
    }
  });

  it.each(['grant_type', 'code', 'redirect_uri'])('a missing or empty %s is invalid_request', async (name) => {
    const sandbox = await sandboxFor();
    const good = exchangeParameters(sandbox, await codeFor(sandbox));
    expectError(await postToken(sandbox, { ...good, [name]: undefined }), 400, 'invalid_request');
    expectError(await postToken(sandbox, { ...good, [name]: '' }), 400, 'invalid_request');
  });

  it('a missing refresh_token is invalid_request, an unknown grant type unsupported_grant_type', async () => {
    const sandbox = await sandboxFor();
    expectError(await postToken(sandbox, { grant_type: 'refresh_token' }), 400, 'invalid_request');
    for (const grant_type of ['password', 'client_credentials', 'AUTHORIZATION_CODE', '__proto__']) {
      expectError(await postToken(sandbox, { grant_type }), 400, 'unsupported_grant_type');
    }
  });

  it('another method is 405 and never a redirect', async () => {
    const sandbox = await sandboxFor();
    for (const method of ['GET', 'PUT', 'DELETE', 'OPTIONS']) {
      const answer = await send(sandbox.ready.auth_url, '/v1/oauth/token?grant_type=refresh_token', { method });
      expect(answer.status).toBe(405);
      expect(answer.headers.allow).toBe('POST');
      expect(answer.headers['access-control-allow-origin']).toBeUndefined();
    }
  });

  it('two concurrent exchanges of a code: one 200', async () => {
    const sandbox = await sandboxFor();
    const good = exchangeParameters(sandbox, await codeFor(sandbox));
    const answers = await Promise.all(Array.from({ length: 8 }, () => postToken(sandbox, good)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400, 400, 400, 400, 400]);
  });
});

const JSON_TYPE = { 'content-type': 'application/json' };

function form(fields: Readonly<Record<string, string>>): string {
  return new URLSearchParams(fields).toString();
}

function post(
  { ready }: SandboxServers,
  query: string,
  options: { readonly headers?: Readonly<Record<string, string | string[]>>; readonly body?: string } = {},
): Promise<Exchange> {
  return send(ready.auth_url, `/v1/oauth/token?${query}`, { method: 'POST', ...options });
}

function expectError(answer: Exchange, status: number, error: string): void {
  expect([answer.status, errorOf(answer)]).toEqual([status, error]);
  expect(Object.keys(JSON.parse(answer.body))).toEqual(['error', 'error_description']);
  expect(answer.headers['content-type']).toBe('application/json');
  expect(answer.headers['cache-control']).toBe('no-store');
}

describe('refresh', () => {
  it('requires only grant_type and refresh_token, and invalidates the old pair immediately', async () => {
    const sandbox = await sandboxFor();
    const old = await grantFor(sandbox);
    const answer = await refreshWith(sandbox, old.refresh_token);
    expect(answer.status).toBe(200);
    const fresh = JSON.parse(answer.body);
    expect(fresh.access_token).not.toBe(old.access_token);
    expect(fresh.refresh_token).not.toBe(old.refresh_token);
    expect(fresh).toMatchObject({ token_type: 'bearer', expires_in: 2_592_000, scope: 'read', info: old.info });
    expect((await callApi(sandbox, old.access_token, 'GET', '/v2/droplets')).status).toBe(404);
    expect((await callApi(sandbox, fresh.access_token, 'GET', '/v2/droplets')).status).toBe(200);
    expectInvalidGrant(await refreshWith(sandbox, old.refresh_token));
    expect((await refreshWith(sandbox, fresh.refresh_token)).status).toBe(200);
  });

  it('two concurrent requests: one 200', async () => {
    const sandbox = await sandboxFor();
    const { refresh_token } = await grantFor(sandbox);
    const answers = await Promise.all(Array.from({ length: 8 }, () => refreshWith(sandbox, refresh_token)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const answer of answers.filter(({ status }) => status !== 200)) expectInvalidGrant(answer);
  });

  it('is accepted after the access token has expired', async () => {
    const sandbox = await sandboxFor();
    const { access_token, refresh_token } = await grantFor(sandbox);
    await admin(sandbox, 'POST', '/_sandbox/clock', { advance: '400d' });
    expect((await callApi(sandbox, access_token, 'GET', '/v2/droplets')).status).toBe(404);
    expect((await refreshWith(sandbox, refresh_token)).status).toBe(200);
  });

  it('scope, person and team do not change', async () => {
    const sandbox = await sandboxFor();
    const [team] = userOf(sandbox, TOMAS).teams;
    const old = await grantFor(sandbox, { email: TOMAS, fields: { account: team?.uuid ?? '' } });
    const fresh = JSON.parse((await refreshWith(sandbox, old.refresh_token, { scope: 'read write' })).body);
    expect(fresh.scope).toBe('read');
    expect(fresh.info).toEqual(old.info);
    expect(fresh.info.team_uuid).toBe(team?.uuid);
  });

  it('credentials, if sent, must be correct; those of another client do not affect the token', async () => {
    const sandbox = await sandboxFor();
    const { client_id, client_secret } = sandbox.ready;
    const other = sandbox.world.seed.applications[1];
    const { refresh_token } = await grantFor(sandbox);
    for (const wrong of [
      { client_id, client_secret: 'wrong' },
      { client_id: 'unknown', client_secret },
      { client_secret },
      { client_id: 'unknown' },
    ]) {
      const answer = await refreshWith(sandbox, refresh_token, wrong);
      expect([answer.status, errorOf(answer)]).toEqual([401, 'invalid_client']);
    }
    const valid = { client_id: other?.clientId ?? '', client_secret: other?.clientSecret ?? '' };
    expectInvalidGrant(await refreshWith(sandbox, refresh_token, valid));
    expect((await refreshWith(sandbox, refresh_token, { client_id, client_secret })).status).toBe(200);
  });

  it('an access token is not a refresh token, and the implicit flow issues none', async () => {
    const sandbox = await sandboxFor();
    const { access_token } = await grantFor(sandbox);
    expectInvalidGrant(await refreshWith(sandbox, access_token));
    expectInvalidGrant(await refreshWith(sandbox, 'nonsense'));
    const implicit = locationOf(
      await answerConsentPage(
        sandbox,
        await signIn(sandbox, MAYA),
        authorizationQuery(sandbox, { response_type: 'token' }),
      ),
    );
    expect(implicit.hash).not.toContain('refresh_token');
    expectInvalidGrant(
      await refreshWith(sandbox, new URLSearchParams(implicit.hash.slice(1)).get('access_token') ?? ''),
    );
  });
});

function expectInvalidGrant(answer: Exchange): void {
  expect([answer.status, errorOf(answer)]).toEqual([400, 'invalid_grant']);
}

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

const path = '/v1/oauth/token/info';

it('GET /v1/oauth/token/info shows the scopes, the application and the lifetime of a bearer token', async () => {
  const sandbox = await sandboxFor();
  await admin(sandbox, 'POST', '/_sandbox/clock', { freeze: true });
  const { access_token, expires_in } = await tokenFor(sandbox);
  const answer = await send(sandbox.ready.auth_url, path, { headers: { authorization: `Bearer ${access_token}` } });
  expect(answer.status).toBe(200);
  const info = JSON.parse(answer.body);
  expect(info).toEqual({
    resource_owner_id: expect.any(Number),
    scopes: ['read', 'write'],
    expires_in_seconds: expires_in,
    application: { uid: sandbox.ready.client_id },
    created_at: Math.floor(sandbox.world.now() / 1_000),
  });
  expect(Number.isSafeInteger(info.resource_owner_id)).toBe(true);
  expect(sandbox.requests(`GET ${path}`)).toMatchObject([{ status: 200, token_hint: access_token.slice(-4) }]);
});

it.each(['unknown', 'revoked', 'absent'])('a token that is %s is 401', async (what) => {
  const sandbox = await sandboxFor();
  const { access_token } = await tokenFor(sandbox);
  if (what === 'revoked') await admin(sandbox, 'POST', '/_sandbox/tokens/revoke', { token: access_token });
  const headers = what === 'absent' ? {} : { authorization: `Bearer ${what === 'unknown' ? 'x' : access_token}` };
  const answer = await send(sandbox.ready.auth_url, path, { headers });
  expect([answer.status, JSON.parse(answer.body).id]).toEqual([401, 'unauthorized']);
  expect(answer.headers['www-authenticate']).toContain('invalid_token');
});
