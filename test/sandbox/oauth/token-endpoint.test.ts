import { describe, expect, it } from 'vitest';
import type { SandboxServers } from '../../../src/sandbox/sandbox.ts';
import {
  admin,
  callApi,
  codeFor,
  type Exchange,
  errorOf,
  exchangeParameters,
  FORM,
  grantFor,
  MAYA,
  postToken,
  refreshWith,
  sandboxFor,
  send,
  TOMAS,
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
