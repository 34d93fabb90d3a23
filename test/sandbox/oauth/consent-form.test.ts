import { describe, expect, it } from 'vitest';
import {
  answerConsentPage,
  authorizationQuery,
  authorize,
  callApi,
  type Exchange,
  FORM,
  locationOf,
  MAYA,
  sandboxFor,
  send,
  signIn,
  submit,
  TOMAS,
  tokenFor,
  userOf,
} from '../requests.ts';

describe('the implicit flow responds in the fragment', () => {
  it.each([{ state: 's +ü' }, {}])('with state %j', async (state) => {
    const sandbox = await sandboxFor();
    const query = authorizationQuery(sandbox, { response_type: 'token', scope: 'read write', ...state });
    const answer = await answerConsentPage(sandbox, await signIn(sandbox, MAYA), query);
    expect(answer.status).toBe(303);
    const to = locationOf(answer);
    expect(to.search).toBe('');
    const fragment = Object.fromEntries(new URLSearchParams(to.hash.slice(1)));
    expect(fragment).toEqual({
      access_token: expect.stringMatching(/^sandbox_[A-Za-z0-9]{40,}$/),
      token_type: 'bearer',
      expires_in: '2592000',
      ...state,
    });
    expect((await callApi(sandbox, fragment.access_token ?? '', 'GET', '/v2/droplets')).status).toBe(200);
  });

  it('the query of the redirect URI is kept in the fragment flow', async () => {
    const sandbox = await sandboxFor({ callbackUrls: ['http://127.0.0.1:9/cb?x=1'] });
    const answer = await answerConsentPage(
      sandbox,
      await signIn(sandbox, MAYA),
      authorizationQuery(sandbox, { response_type: 'token' }),
    );
    expect(answer.headers.location).toMatch(/^http:\/\/127\.0\.0\.1:9\/cb\?x=1#access_token=/);
  });
});

describe('the consent form requires the session and its single-use token', () => {
  it('a form can be submitted once', async () => {
    const sandbox = await sandboxFor();
    const cookie = await signIn(sandbox, MAYA);
    const page = await authorize(sandbox, authorizationQuery(sandbox), cookie);
    expect((await submit(sandbox, page, cookie, { decision: 'approve' })).status).toBe(303);
    expectRefused(await submit(sandbox, page, cookie, { decision: 'approve' }));
  });

  it('a form of another session, without a session, of another origin or for another request is rejected', async () => {
    const sandbox = await sandboxFor();
    const cookie = await signIn(sandbox, MAYA);
    const page = await authorize(sandbox, authorizationQuery(sandbox), cookie);
    expectRefused(await submit(sandbox, page, await signIn(sandbox, TOMAS), { decision: 'approve' }));
    expectRefused(await submit(sandbox, page, '', { decision: 'approve' }));
    expectRefused(await submit(sandbox, page, cookie, { decision: 'approve', csrf: 'x' }));
    const other = { ...page, body: page.body.replace('response_type=code', 'response_type=token') };
    expectRefused(await submit(sandbox, other, cookie, { decision: 'approve' }));
    const csrf = /name="csrf" value="([^"]*)"/.exec(page.body)?.[1] ?? '';
    const foreign = await send(sandbox.ready.auth_url, `/v1/oauth/authorize?${authorizationQuery(sandbox)}`, {
      method: 'POST',
      headers: { ...FORM, cookie, origin: 'https://evil.example' },
      body: `csrf=${csrf}&decision=approve`,
    });
    expectRefused(foreign);
    expect((await submit(sandbox, page, cookie, { decision: 'approve' })).status).toBe(303);
  });

  it('two tabs can be open at once', async () => {
    const sandbox = await sandboxFor();
    const cookie = await signIn(sandbox, MAYA);
    const one = await authorize(sandbox, authorizationQuery(sandbox), cookie);
    const two = await authorize(sandbox, authorizationQuery(sandbox), cookie);
    expect((await submit(sandbox, one, cookie, { decision: 'approve' })).status).toBe(303);
    expect((await submit(sandbox, two, cookie, { decision: 'approve' })).status).toBe(303);
  });

  it('a team of other people and an unknown decision are rejected', async () => {
    const sandbox = await sandboxFor();
    const cookie = await signIn(sandbox, MAYA);
    const team = userOf(sandbox, TOMAS).teams[0]?.uuid ?? '';
    for (const fields of [{ decision: 'approve', account: team }, { decision: 'perhaps' }, {}]) {
      const answer = await answerConsentPage(sandbox, cookie, authorizationQuery(sandbox), fields);
      expect(answer.status).toBe(400);
      expect(answer.headers.location).toBeUndefined();
    }
  });

  it('pages cannot be framed, cached or scripted, and the redirect is not blocked by form-action', async () => {
    const sandbox = await sandboxFor();
    const page = await authorize(sandbox, authorizationQuery(sandbox), await signIn(sandbox, MAYA));
    const policy = page.headers['content-security-policy'] ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain('form-action');
    expect(policy).not.toContain('unsafe');
    expect(page.headers['x-frame-options']).toBe('DENY');
    expect(page.headers['cache-control']).toBe('no-store');
    expect(page.body).not.toContain('<script');
  });

  it('the session cookie is HttpOnly and SameSite=Lax', async () => {
    const sandbox = await sandboxFor();
    const body = new URLSearchParams({
      email: MAYA,
      password: userOf(sandbox, MAYA).password,
      next: '/panel',
    }).toString();
    const answer = await send(sandbox.ready.auth_url, '/panel/sign-in', { method: 'POST', headers: FORM, body });
    expect(answer.headers['set-cookie']).toMatch(
      /^sandbox_session_\d+=[A-Za-z0-9]{43}; Path=\/; HttpOnly; SameSite=Lax$/,
    );
  });
});

describe('a code is bound to client, redirect URI, person, scope and team, for 10 minutes', () => {
  it('binds the code to the scope and account of its approval', async () => {
    const sandbox = await sandboxFor();
    const team = userOf(sandbox, TOMAS).teams[0]?.uuid ?? '';
    const answer = await answerConsentPage(
      sandbox,
      await signIn(sandbox, TOMAS),
      authorizationQuery(sandbox, { scope: 'read write' }),
      {
        decision: 'approve',
        account: team,
      },
    );
    const code = locationOf(answer).searchParams.get('code') ?? '';
    expect(sandbox.world.grants.code(code)).toMatchObject({
      clientId: sandbox.ready.client_id,
      redirectUri: sandbox.ready.callback_url,
      person: userOf(sandbox, TOMAS).uuid,
      scope: 'read write',
      team,
    });
  });

  it('has at least 128 bits of entropy, as letters and digits', async () => {
    const sandbox = await sandboxFor({ seed: 1 });
    const cookie = await signIn(sandbox, MAYA);
    const codes = new Set<string | null>();
    for (let i = 0; i < 20; i += 1)
      codes.add(
        locationOf(await answerConsentPage(sandbox, cookie, authorizationQuery(sandbox))).searchParams.get('code'),
      );
    expect(codes.size).toBe(20);
    for (const code of codes) expect((code ?? '').length * Math.log2(62)).toBeGreaterThan(128);
    await tokenFor(sandbox);
  });
});

function expectRefused(answer: Exchange): void {
  expect(answer.status).toBe(403);
  expect(answer.headers.location).toBeUndefined();
  expect(answer.body).toMatch(/<p><a href="\/v1\/oauth\/authorize\?/);
}
