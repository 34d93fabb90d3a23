import { expect, it } from 'vitest';
import { expectGolden } from '../../fixtures/golden.ts';
import { authorizationQuery, authorize, FORM, sandboxFor, send } from '../requests.ts';
import { pageText } from './page-text.ts';

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
