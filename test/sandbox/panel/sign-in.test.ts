import { describe, expect, it } from 'vitest';
import { expectGolden } from '../../fixtures/golden.ts';
import { authorizationQuery, authorize, FORM, MAYA, sandboxFor, send, signIn, submit, userOf } from '../requests.ts';
import { pageText } from './page-text.ts';

describe('signing in and out', () => {
  it.each(['https://evil.example/', '//evil.example/', '/\\evil.example', '/a\\b', 'panel', '', '/a b', '/\r\nx'])(
    'never leads away from the own origin: next=%j',
    async (next) => {
      const sandbox = await sandboxFor();
      const body = new URLSearchParams({ email: MAYA, password: userOf(sandbox, MAYA).password, next }).toString();
      const answer = await send(sandbox.ready.auth_url, '/panel/sign-in', { method: 'POST', headers: FORM, body });
      expect([answer.status, answer.headers.location]).toEqual([303, '/panel']);
    },
  );

  it('a page of the panel redirects to the sign-in page and back', async () => {
    const sandbox = await sandboxFor();
    const answer = await send(sandbox.ready.auth_url, '/panel/applications?x=1');
    expect([answer.status, answer.headers.location]).toEqual([
      303,
      '/panel/sign-in?next=%2Fpanel%2Fapplications%3Fx%3D1',
    ]);
    const page = await send(sandbox.ready.auth_url, answer.headers.location ?? '');
    expect(page.body).toContain('name="next" value="/panel/applications?x=1"');
  });

  it('a form submitted from another site is rejected', async () => {
    const sandbox = await sandboxFor();
    const body = new URLSearchParams({ email: MAYA, password: userOf(sandbox, MAYA).password }).toString();
    for (const origin of ['https://evil.example', 'null']) {
      const answer = await send(sandbox.ready.auth_url, '/panel/sign-in', {
        method: 'POST',
        headers: { ...FORM, origin },
        body,
      });
      expect(answer.status).toBe(403);
      expect(answer.headers['set-cookie']).toBeUndefined();
    }
  });

  it('signing out ends the session at the server', async () => {
    const sandbox = await sandboxFor();
    const cookie = await signIn(sandbox, MAYA);
    expect((await send(sandbox.ready.auth_url, '/panel', { headers: { cookie } })).status).toBe(200);
    const answer = await send(sandbox.ready.auth_url, '/panel/sign-out', { method: 'POST', headers: { cookie } });
    expect(answer.headers['set-cookie']).toContain('Max-Age=0');
    expect((await send(sandbox.ready.auth_url, '/panel', { headers: { cookie } })).status).toBe(303);
  });

  it('a wrong password keeps the application and the page to open after signing in', async () => {
    const sandbox = await sandboxFor();
    const query = authorizationQuery(sandbox, { state: 'a b' });
    const page = await authorize(sandbox, query);
    for (let turn = 0; turn < 2; turn += 1) {
      const answer = await submit(sandbox, page, '', { email: MAYA, password: 'wrong' });
      expect(answer.status).toBe(403);
      expect(answer.body).toContain('<strong>Sandbox CLI</strong>');
      expectGolden('sandbox', pageText(answer.body));
      expect(answer.body).toContain(`name="next" value="/v1/oauth/authorize?${query.replaceAll('&', '&amp;')}"`);
    }
    const plain = await send(sandbox.ready.auth_url, '/panel/sign-in');
    expect(plain.body).not.toContain('Sandbox CLI');
    expectGolden('sandbox', pageText(plain.body), 'without an application');
  });
});
