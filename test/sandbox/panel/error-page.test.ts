import { expect, it } from 'vitest';
import { authorizationQuery, authorize, FORM, sandboxFor, send } from '../requests.ts';

it.each([{ redirect_uri: 'http://evil.example/' }, { scope: 'everything' }, { client_id: 'nobody' }])(
  'a refusal page leads on: %j',
  async (changes) => {
    const sandbox = await sandboxFor();
    const { status, body } = await authorize(sandbox, authorizationQuery(sandbox, changes));
    expect(status).toBe(400);
    expect(body).toContain('Go back to where you came from');
    for (const path of ['/panel', '/panel/requests']) expect(body).toContain(`<a href="${path}">`);
  },
);

it('a form that cannot be taken offers its own beginning', async () => {
  const sandbox = await sandboxFor();
  const query = authorizationQuery(sandbox);
  const answer = await send(sandbox.ready.auth_url, `/v1/oauth/authorize?${query}`, { method: 'POST', headers: FORM });
  expect(answer.body).toContain(`<a href="/v1/oauth/authorize?${query.replaceAll('&', '&amp;')}">Begin again</a>`);
});
