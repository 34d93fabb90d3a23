import { expect, it } from 'vitest';
import { admin, sandboxFor, send, tokenFor } from '../requests.ts';

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
