import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  admin,
  authorizationQuery,
  authorize,
  codeFor,
  errorOf,
  exchangeParameters,
  locationOf,
  MAYA,
  postToken,
  sandboxFor,
} from '../requests.ts';

describe('a repeated parameter is invalid_request, unknown ones are ignored', () => {
  it.each([
    'response_type=code',
    'scope=read&scope=read',
    'prompt=none&prompt=none',
    'i=123456&i=123456',
    'code_challenge=a&code_challenge=a',
    'code_challenge_method=S256&code_challenge_method=S256',
    'scope=&scope=read',
    'sc%6fpe=read&scope=read',
  ])('%s', async (more) => {
    const sandbox = await sandboxFor();
    const answer = await authorize(sandbox, `${authorizationQuery(sandbox, { state: 's' })}&${more}`);
    expect(answer.status).toBe(302);
    expect(locationOf(answer).searchParams.get('error')).toBe('invalid_request');
    expect(locationOf(answer).searchParams.get('state')).toBe('s');
  });

  it('a repeated state is not returned', async () => {
    const sandbox = await sandboxFor();
    const answer = locationOf(await authorize(sandbox, `${authorizationQuery(sandbox)}&state=a&state=b`));
    expect(answer.searchParams.get('error')).toBe('invalid_request');
    expect(answer.searchParams.has('state')).toBe(false);
  });

  it('unknown parameters are ignored, even repeated', async () => {
    const sandbox = await sandboxFor();
    expect(
      (await authorize(sandbox, `${authorizationQuery(sandbox)}&nonce=1&nonce=2&audience=x&__proto__=1`)).status,
    ).toBe(200);
  });
});

describe('an unknown, missing or repeated client_id is a page and never a redirect', () => {
  it.each([
    ['unknown', 'client_id=someone'],
    ['markup', 'client_id=%3Cscript%3E'],
    ['missing', ''],
    ['empty', 'client_id='],
  ])('%s', async (_name, clientId) => {
    const sandbox = await sandboxFor();
    const answer = await authorize(sandbox, `${authorizationQuery(sandbox, { client_id: undefined })}&${clientId}`);
    expect(answer.status).toBe(400);
    expect(answer.headers.location).toBeUndefined();
    expect(answer.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(answer.body).not.toContain('<script>');
  });

  it('repeated, even with the same value', async () => {
    const sandbox = await sandboxFor();
    const answer = await authorize(sandbox, `${authorizationQuery(sandbox)}&client_id=${sandbox.ready.client_id}`);
    expect(answer.status).toBe(400);
    expect(answer.headers.location).toBeUndefined();
  });
});

const REGISTERED = 'http://127.0.0.1:4321/callback';

describe('a missing or different redirect_uri is a page that shows the received and the registered value', () => {
  it.each([
    'http://127.0.0.1:4321/callback/',
    'http://127.0.0.1:4321/Callback',
    'http://127.0.0.1:4321/callback?',
    'http://127.0.0.1:4321/callback#',
    'http://127.0.0.1:4321/x/../callback',
    'http://127.0.0.1:4322/callback',
    'http://localhost:4321/callback',
    'HTTP://127.0.0.1:4321/callback',
    'http://127.0.0.1:4321/callbac%6b',
    'https://127.0.0.1:4321/callback',
    'http://user@127.0.0.1:4321/callback',
    ' http://127.0.0.1:4321/callback',
    'javascript:alert(1)',
  ])('%s', async (redirect_uri) => {
    const sandbox = await sandboxFor({ callbackUrls: [REGISTERED] });
    const answer = await authorize(sandbox, authorizationQuery(sandbox, { redirect_uri, state: 's' }));
    expect(answer.status).toBe(400);
    expect(answer.headers.location).toBeUndefined();
    expect(answer.body).toContain(`<dd>${REGISTERED}</dd>`);
    expect(answer.body).toContain(`<dd>${redirect_uri}</dd>`);
  });

  it('missing, empty and repeated', async () => {
    const sandbox = await sandboxFor({ callbackUrls: [REGISTERED] });
    const without = authorizationQuery(sandbox, { redirect_uri: undefined });
    for (const query of [
      without,
      `${without}&redirect_uri=`,
      `${authorizationQuery(sandbox)}&redirect_uri=${REGISTERED}`,
    ]) {
      const answer = await authorize(sandbox, query);
      expect(answer.status).toBe(400);
      expect(answer.headers.location).toBeUndefined();
      expect(answer.body).toContain(`<dt>Registered</dt><dd>${REGISTERED}</dd>`);
    }
  });

  it('the callback URL of another application is rejected', async () => {
    const sandbox = await sandboxFor({ apps: [{ name: 'Other', callbackUrl: 'https://other.example/cb' }] });
    expect(
      (await authorize(sandbox, authorizationQuery(sandbox, { redirect_uri: 'https://other.example/cb' }))).status,
    ).toBe(400);
  });

  it('every registered callback URL is valid', async () => {
    const sandbox = await sandboxFor({ callbackUrls: [REGISTERED, 'http://127.0.0.1:4322/callback'] });
    for (const redirect_uri of [REGISTERED, 'http://127.0.0.1:4322/callback']) {
      expect((await authorize(sandbox, authorizationQuery(sandbox, { redirect_uri }))).status).toBe(200);
    }
  });
});

describe('a response_type other than code and token redirects with an error', () => {
  it.each([
    ['id_token', 'unsupported_response_type'],
    ['code token', 'unsupported_response_type'],
    ['CODE', 'unsupported_response_type'],
    ['', 'invalid_request'],
    [undefined, 'invalid_request'],
  ])('%s is %s', async (response_type, error) => {
    const sandbox = await sandboxFor();
    const answer = await authorize(sandbox, authorizationQuery(sandbox, { response_type, state: 's' }));
    expect(answer.status).toBe(302);
    const to = locationOf(answer);
    expect(to.href.startsWith(sandbox.ready.callback_url)).toBe(true);
    expect(to.searchParams.get('error')).toBe(error);
    expect(to.searchParams.get('error_description')).not.toBeNull();
    expect(to.searchParams.get('state')).toBe('s');
  });
});

describe('a scope other than read and read write is a page', () => {
  it.each([
    ['', 'read'],
    ['&scope=', 'read'],
    ['&scope=read', 'read'],
    ['&scope=read+write', 'read write'],
    ['&scope=read%20write', 'read write'],
    ['&scope=write%20read', 'read write'],
  ])('%s grants %s', async (parameter, granted) => {
    const sandbox = await sandboxFor();
    await admin(sandbox, 'POST', '/_sandbox/consent', { mode: 'approve', user: MAYA });
    const answer = await authorize(sandbox, `${authorizationQuery(sandbox)}${parameter}`);
    const code = locationOf(answer).searchParams.get('code') ?? '';
    const grant = await postToken(sandbox, exchangeParameters(sandbox, code));
    expect(JSON.parse(grant.body).scope).toBe(granted);
  });

  it.each([
    'write',
    'READ',
    'Read Write',
    'read,write',
    'read read',
    'read write read',
    'read  write',
    ' read',
    'read ',
    'admin',
    'read admin',
    'read\twrite',
    '"read"',
    '<b>',
  ])('%j is a page and never a redirect', async (scope) => {
    const sandbox = await sandboxFor();
    for (const response_type of ['code', 'token', 'nonsense']) {
      const answer = await authorize(sandbox, authorizationQuery(sandbox, { scope, response_type, state: 's' }));
      expect(answer.status).toBe(400);
      expect(answer.headers.location).toBeUndefined();
      expect(answer.body).toContain('<dt>Valid</dt><dd>read write</dd>');
      expect(answer.body).not.toContain('<b>');
    }
  });
});

const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url');
const S256 = { code_challenge: CHALLENGE, code_challenge_method: 'S256' };

describe('PKCE', () => {
  it('the challenge of RFC 7636 appendix B is accepted', () => {
    expect(CHALLENGE).toBe('E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM');
  });

  it('a code with a challenge requires the verifier, and a wrong verifier does not use up the code', async () => {
    const sandbox = await sandboxFor();
    const parameters = exchangeParameters(sandbox, await codeFor(sandbox, { changes: S256 }));
    for (const code_verifier of [undefined, CHALLENGE, VERIFIER.toLowerCase(), `${VERIFIER}A`, 'short']) {
      const answer = await postToken(sandbox, { ...parameters, code_verifier });
      expect(answer.status).toBe(400);
      expect(errorOf(answer)).toBe('invalid_grant');
    }
    expect((await postToken(sandbox, { ...parameters, code_verifier: VERIFIER })).status).toBe(200);
  });

  it('a verifier without a challenge is rejected', async () => {
    const sandbox = await sandboxFor();
    const parameters = exchangeParameters(sandbox, await codeFor(sandbox));
    expect(errorOf(await postToken(sandbox, { ...parameters, code_verifier: VERIFIER }))).toBe('invalid_grant');
  });

  it.each([
    { code_challenge: CHALLENGE },
    { code_challenge: CHALLENGE, code_challenge_method: 'plain' },
    { code_challenge: CHALLENGE, code_challenge_method: 's256' },
    { code_challenge: 'short', code_challenge_method: 'S256' },
    { code_challenge: `${CHALLENGE}=`, code_challenge_method: 'S256' },
    { code_challenge_method: 'S256' },
  ])('%j is invalid_request', async (changes) => {
    const sandbox = await sandboxFor();
    const answer = locationOf(await authorize(sandbox, authorizationQuery(sandbox, changes)));
    expect(answer.searchParams.get('error')).toBe('invalid_request');
  });
});

describe('prompt is none or select_account', () => {
  it.each([
    'login',
    'consent',
    'NONE',
    'none select_account',
    'select_account none',
    'none login',
    'none  none',
    ' none',
  ])('%j is invalid_request', async (prompt) => {
    const sandbox = await sandboxFor();
    const answer = locationOf(await authorize(sandbox, authorizationQuery(sandbox, { prompt, state: 's' })));
    expect(answer.searchParams.get('error')).toBe('invalid_request');
    expect(answer.searchParams.get('state')).toBe('s');
  });

  it.each(['none', 'login', 'none login'])('%j is ignored in the implicit flow', async (prompt) => {
    const sandbox = await sandboxFor();
    const answer = await authorize(
      sandbox,
      authorizationQuery(sandbox, { prompt, response_type: 'token', i: 'nonsense' }),
    );
    expect(answer.status).toBe(200);
    expect(answer.body).toContain('<h1>Sign in</h1>');
  });
});

describe('the hint i is six hexadecimal characters', () => {
  it.each(['12345', '1234567', 'abcdeg', '12 456', '0x1234', '1234-5'])('%j is invalid_request', async (i) => {
    const sandbox = await sandboxFor();
    const answer = locationOf(await authorize(sandbox, authorizationQuery(sandbox, { prompt: 'none', i })));
    expect(answer.searchParams.get('error')).toBe('invalid_request');
  });

  it.each([undefined, 'select_account'])('without none it is ignored (prompt %s)', async (prompt) => {
    const sandbox = await sandboxFor();
    expect((await authorize(sandbox, authorizationQuery(sandbox, { prompt, i: 'nonsense' }))).status).toBe(200);
  });
});
