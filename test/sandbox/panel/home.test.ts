import { expect, it } from 'vitest';
import { expectGolden } from '../../fixtures/golden.ts';
import { authorizationQuery, authorize, FORM, sandboxFor, send, signIn, TOMAS, userOf } from '../requests.ts';
import { pageText } from './page-text.ts';

it('the home page names the person, the account and the teams', async () => {
  const sandbox = await sandboxFor();
  const cookie = await signIn(sandbox, TOMAS);
  const root = await send(sandbox.ready.auth_url, '/');
  expect([root.status, root.headers.location]).toEqual([302, '/panel']);
  const page = await send(sandbox.ready.auth_url, '/panel', { headers: { cookie } });
  for (const part of ['Tomás Okafor', TOMAS, userOf(sandbox, TOMAS).uuid, 'Harbour Works'])
    expect(page.body).toContain(part);
  expectGolden('sandbox', pageText(page.body));
});

it.each([
  ['redirect URI', { redirect_uri: 'http://evil.example/' }],
  ['scope', { scope: 'everything' }],
  ['client', { client_id: 'nobody' }],
])('the error page of an invalid %s links to the control panel and the request log', async (_name, changes) => {
  const sandbox = await sandboxFor();
  const { status, body } = await authorize(sandbox, authorizationQuery(sandbox, changes));
  expect(status).toBe(400);
  for (const path of ['/panel', '/panel/requests']) expect(body).toContain(`<a href="${path}">`);
  expectGolden('sandbox', pageText(body));
});

it('the error page of a form links to the page that showed the form', async () => {
  const sandbox = await sandboxFor();
  const query = authorizationQuery(sandbox);
  const answer = await send(sandbox.ready.auth_url, `/v1/oauth/authorize?${query}`, { method: 'POST', headers: FORM });
  expect(answer.body).toContain(`<a href="/v1/oauth/authorize?${query.replaceAll('&', '&amp;')}">`);
  expectGolden('sandbox', pageText(answer.body));
});
