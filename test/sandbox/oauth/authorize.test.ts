import { describe, expect, it } from 'vitest';
import { grantOf } from '../../../src/sandbox/oauth/authorize.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { pageText } from '../panel/page-text.ts';
import {
  admin,
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

describe('a valid request that is approved returns code and state', () => {
  it('with 303 after the consent form', async () => {
    const sandbox = await sandboxFor();
    const answer = await answerConsentPage(
      sandbox,
      await signIn(sandbox, MAYA),
      authorizationQuery(sandbox, { state: 'abc' }),
    );
    expect(answer.status).toBe(303);
    const to = locationOf(answer);
    expect(`${to.origin}${to.pathname}`).toBe(sandbox.ready.callback_url);
    expect([...to.searchParams.keys()]).toEqual(['code', 'state']);
    expect(to.searchParams.get('code')).toMatch(/^[A-Za-z0-9]{22,}$/);
    expect(to.hash).toBe('');
  });

  it('with 302 after a GET', async () => {
    const sandbox = await sandboxFor();
    await admin(sandbox, 'POST', '/_sandbox/consent', { mode: 'approve', user: MAYA });
    const answer = await authorize(sandbox, authorizationQuery(sandbox, { state: 'abc' }));
    expect(answer.status).toBe(302);
    expect(locationOf(answer).searchParams.get('state')).toBe('abc');
  });

  it('the state is returned byte for byte, 2 KB of Unicode and + included', async () => {
    const sandbox = await sandboxFor();
    const cookie = await signIn(sandbox, MAYA);
    const long = 'ä€😀 +%/?#[]@!$&\'()*,;="<>\\^`{|}~'.repeat(80).slice(0, 2048);
    for (const state of [long, 'a b', 'a+b', '+', '%', '%2B', 'x'.repeat(2048), '<script>"\'&']) {
      const answer = await answerConsentPage(sandbox, cookie, authorizationQuery(sandbox, { state }));
      expect(locationOf(answer).searchParams.get('state')).toBe(state);
    }
  });

  it('the state is returned in the encoding in which it was sent', async () => {
    const sandbox = await sandboxFor();
    await admin(sandbox, 'POST', '/_sandbox/consent', { mode: 'approve', user: MAYA });
    for (const raw of ['a+b', 'a%20b', 'a%2Bb', '%FF%fe', '%zz', 'a=b==', 'b%2fc', '%41', '!~*']) {
      const answer = await authorize(sandbox, `${authorizationQuery(sandbox)}&state=${raw}`);
      expect(answer.headers.location?.split('&state=')[1]).toBe(raw);
    }
  });

  it('characters that a client did not encode are returned percent-encoded', async () => {
    const sandbox = await sandboxFor();
    await admin(sandbox, 'POST', '/_sandbox/consent', { mode: 'approve', user: MAYA });
    const answer = await authorize(sandbox, `${authorizationQuery(sandbox)}&state="<x>|{y}^`);
    expect(answer.headers.location?.split('&state=')[1]).toBe('%22%3Cx%3E%7C%7By%7D%5E');
  });

  it('a state is returned only if it was sent, also when it is empty', async () => {
    const sandbox = await sandboxFor();
    await admin(sandbox, 'POST', '/_sandbox/consent', { mode: 'approve', user: MAYA });
    expect(locationOf(await authorize(sandbox, authorizationQuery(sandbox))).searchParams.has('state')).toBe(false);
    expect(
      locationOf(await authorize(sandbox, `${authorizationQuery(sandbox)}&state=`)).searchParams.get('state'),
    ).toBe('');
  });

  it('the query of the redirect URI is not changed', async () => {
    const callback = 'http://127.0.0.1:9/cb?tenant=a%20b&x=+';
    const sandbox = await sandboxFor({ callbackUrls: [callback] });
    const answer = await answerConsentPage(
      sandbox,
      await signIn(sandbox, MAYA),
      authorizationQuery(sandbox, { state: 's' }),
    );
    expect(answer.headers.location).toMatch(
      /^http:\/\/127\.0\.0\.1:9\/cb\?tenant=a%20b&x=\+&code=[A-Za-z0-9]+&state=s$/,
    );
  });
});

describe('not signed in: sign-in page, then consent; signed in: consent, even if authorized before', () => {
  it('redirects from the sign-in page to the consent page of the same request', async () => {
    const sandbox = await sandboxFor();
    const query = authorizationQuery(sandbox, { state: 'ü&"<>+ +', scope: 'read write' });
    const page = await authorize(sandbox, query);
    expect(page.status).toBe(200);
    expect(page.body).toContain('<h1>Sign in</h1>');
    const signedIn = await submit(sandbox, page, '', { email: MAYA, password: userOf(sandbox, MAYA).password });
    expect(signedIn.status).toBe(303);
    expect(signedIn.headers.location).toBe(`/v1/oauth/authorize?${query}`);
    const cookie = signedIn.headers['set-cookie']?.split(';')[0] ?? '';
    const consent = await send(sandbox.ready.auth_url, signedIn.headers.location ?? '', { headers: { cookie } });
    expect(consent.body).toContain('Authorize Sandbox CLI?');
    const answer = await submit(sandbox, consent, cookie, { decision: 'approve' });
    expect(locationOf(answer).searchParams.get('state')).toBe('ü&"<>+ +');
  });

  it('a wrong password shows the sign-in page again and starts no session', async () => {
    const sandbox = await sandboxFor();
    const page = await authorize(sandbox, authorizationQuery(sandbox));
    for (const [email, password] of [
      [MAYA, 'wrong'],
      ['nobody@example.com', ''],
      [MAYA, userOf(sandbox, TOMAS).password],
    ]) {
      const answer = await submit(sandbox, page, '', { email: email ?? '', password: password ?? '' });
      expect(answer.status).toBe(403);
      expect(answer.headers['set-cookie']).toBeUndefined();
      expect(answer.body).toContain('role="alert"');
    }
  });

  it.each([undefined, 'select_account'])('shows the consent page again with prompt %s', async (prompt) => {
    const sandbox = await sandboxFor();
    const cookie = await signIn(sandbox, MAYA);
    await answerConsentPage(sandbox, cookie, authorizationQuery(sandbox));
    const page = await authorize(sandbox, authorizationQuery(sandbox, { prompt }), cookie);
    expect(page.status).toBe(200);
    expect(page.body).toContain('Authorize Sandbox CLI?');
  });

  it('the page names application, scope, person and team', async () => {
    const sandbox = await sandboxFor();
    const page = await authorize(
      sandbox,
      authorizationQuery(sandbox, { scope: 'read write' }),
      await signIn(sandbox, TOMAS),
    );
    for (const part of ['Sandbox CLI', 'Tomás Okafor', 'tomas@example.com', 'Harbour Works']) {
      expect(page.body).toContain(part);
    }
    expectGolden('sandbox', pageText(page.body), 'read write');
    const readOnly = await authorize(sandbox, authorizationQuery(sandbox), await signIn(sandbox, TOMAS));
    expect(readOnly.body.match(/<li>/g)).toHaveLength(1);
    expectGolden('sandbox', pageText(readOnly.body), 'read');
  });

  it('another account can be chosen', async () => {
    const sandbox = await sandboxFor();
    const cookie = await signIn(sandbox, MAYA);
    const answer = await answerConsentPage(sandbox, cookie, authorizationQuery(sandbox), { decision: 'switch' });
    expect(answer.status).toBe(303);
    const page = await send(sandbox.ready.auth_url, answer.headers.location ?? '', { headers: { cookie } });
    expect(page.body).toContain('<h1>Sign in</h1>');
  });
});

describe('a denial is reported in the query of the redirect URI, in both flows', () => {
  it.each(['code', 'token'])('response_type %s', async (response_type) => {
    const sandbox = await sandboxFor();
    const cookie = await signIn(sandbox, MAYA);
    const answer = await answerConsentPage(
      sandbox,
      cookie,
      authorizationQuery(sandbox, { response_type, state: 's+1' }),
      { decision: 'deny' },
    );
    expect(answer.status).toBe(303);
    const to = locationOf(answer);
    expect([...to.searchParams.keys()]).toEqual(['error', 'error_description', 'state']);
    expect(to.searchParams.get('error')).toBe('access_denied');
    expect(to.searchParams.get('error_description')).not.toBe('');
    expect(to.searchParams.get('state')).toBe('s+1');
    expect(to.hash).toBe('');
  });
});

describe('prompt=none', () => {
  const none = { prompt: 'none', state: 's' };

  it('signed in and authorized: a code without a page', async () => {
    const sandbox = await sandboxFor();
    const cookie = await signIn(sandbox, MAYA);
    await answerConsentPage(sandbox, cookie, authorizationQuery(sandbox));
    const answer = await authorize(sandbox, authorizationQuery(sandbox, none), cookie);
    expect(answer.status).toBe(302);
    expect([...locationOf(answer).searchParams.keys()]).toEqual(['code', 'state']);
  });

  it('signed in and not authorized, or for a wider scope: consent_required', async () => {
    const sandbox = await sandboxFor();
    const cookie = await signIn(sandbox, MAYA);
    const first = locationOf(await authorize(sandbox, authorizationQuery(sandbox, none), cookie));
    expect(first.searchParams.get('error')).toBe('consent_required');
    expect(first.searchParams.get('state')).toBe('s');
    await answerConsentPage(sandbox, cookie, authorizationQuery(sandbox));
    const wider = locationOf(
      await authorize(sandbox, authorizationQuery(sandbox, { ...none, scope: 'read write' }), cookie),
    );
    expect(wider.searchParams.get('error')).toBe('consent_required');
    await answerConsentPage(sandbox, cookie, authorizationQuery(sandbox, { scope: 'read write' }));
    await answerConsentPage(sandbox, cookie, authorizationQuery(sandbox));
    const granted = locationOf(
      await authorize(sandbox, authorizationQuery(sandbox, { ...none, scope: 'read write' }), cookie),
    );
    expect(granted.searchParams.has('code')).toBe(true);
  });

  it('a denial does not authorize the application', async () => {
    const sandbox = await sandboxFor();
    const cookie = await signIn(sandbox, MAYA);
    await answerConsentPage(sandbox, cookie, authorizationQuery(sandbox), { decision: 'deny' });
    const answer = locationOf(await authorize(sandbox, authorizationQuery(sandbox, none), cookie));
    expect(answer.searchParams.get('error')).toBe('consent_required');
  });

  it('not signed in: login_required', async () => {
    const sandbox = await sandboxFor();
    const answer = await authorize(sandbox, authorizationQuery(sandbox, none));
    expect(answer.status).toBe(302);
    expect(locationOf(answer).searchParams.get('error')).toBe('login_required');
    await admin(sandbox, 'POST', '/_sandbox/consent', { mode: 'approve', user: MAYA });
    const scripted = await authorize(sandbox, authorizationQuery(sandbox, none));
    expect(locationOf(scripted).searchParams.get('error')).toBe('login_required');
    const cookie = (await authorize(sandbox, authorizationQuery(sandbox))).headers['set-cookie']?.split(';')[0];
    const signedIn = await authorize(sandbox, authorizationQuery(sandbox, none), cookie);
    expect(locationOf(signedIn).searchParams.has('code')).toBe(true);
  });

  it('the hint i: the right account in any case, another account login_required', async () => {
    const sandbox = await sandboxFor();
    const cookie = await signIn(sandbox, MAYA);
    await answerConsentPage(sandbox, cookie, authorizationQuery(sandbox));
    const own = userOf(sandbox, MAYA).uuid.slice(0, 6);
    for (const i of [own, own.toUpperCase()]) {
      expect(
        locationOf(await authorize(sandbox, authorizationQuery(sandbox, { ...none, i }), cookie)).searchParams.has(
          'code',
        ),
      ).toBe(true);
    }
    const i = userOf(sandbox, TOMAS).uuid.slice(0, 6);
    const other = locationOf(await authorize(sandbox, authorizationQuery(sandbox, { ...none, i }), cookie));
    expect(other.searchParams.get('error')).toBe('login_required');
  });

  it('the team of the last approval is kept', async () => {
    const sandbox = await sandboxFor();
    const cookie = await signIn(sandbox, TOMAS);
    const team = userOf(sandbox, TOMAS).teams[0]?.uuid ?? '';
    await answerConsentPage(sandbox, cookie, authorizationQuery(sandbox), { decision: 'approve', account: team });
    const code =
      locationOf(await authorize(sandbox, authorizationQuery(sandbox, none), cookie)).searchParams.get('code') ?? '';
    expect(sandbox.world.grants.code(code)?.team).toBe(team);
  });
});

describe('the consent script decides without pages', () => {
  it('approve signs the person in, also for a team', async () => {
    const sandbox = await sandboxFor();
    await admin(sandbox, 'POST', '/_sandbox/consent', { mode: 'approve', user: TOMAS, team: 'Harbour Works' });
    const answer = await authorize(sandbox, authorizationQuery(sandbox));
    expect(answer.status).toBe(302);
    const code = locationOf(answer).searchParams.get('code') ?? '';
    expect(sandbox.world.grants.code(code)?.team).toBe(userOf(sandbox, TOMAS).teams[0]?.uuid);
    const cookie = answer.headers['set-cookie']?.split(';')[0];
    await admin(sandbox, 'POST', '/_sandbox/consent', { mode: 'ask' });
    expect(
      locationOf(await authorize(sandbox, authorizationQuery(sandbox, { prompt: 'none' }), cookie)).searchParams.has(
        'code',
      ),
    ).toBe(true);
  });

  it('deny denies, but errors of the request are reported first', async () => {
    const sandbox = await sandboxFor();
    await admin(sandbox, 'POST', '/_sandbox/consent', { mode: 'deny' });
    expect(locationOf(await authorize(sandbox, authorizationQuery(sandbox))).searchParams.get('error')).toBe(
      'access_denied',
    );
    expect((await authorize(sandbox, authorizationQuery(sandbox, { scope: 'write' }))).status).toBe(400);
  });
});

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

it('a grant has the person, the application and the granted scope of its authorization', async () => {
  const sandbox = await sandboxFor();
  const person = userOf(sandbox, MAYA).uuid;
  const clientId = sandbox.ready.client_id;
  const authorization = sandbox.world.grants.authorize({ person, clientId, scope: 'read write' });
  const grant = grantOf(authorization, 'read');
  expect(grant).toEqual({ authorization: authorization.id, person, clientId, scope: 'read' });
});
