import { describe, expect, it } from 'vitest';
import { authorizationQuery, authorize, sandboxFor } from '../../requests.ts';

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
