import { describe, expect, it } from 'vitest';
import { admin, callApi, MAYA, refreshWith, sandboxFor, send, signIn, TOMAS, tokenFor, userOf } from '../requests.ts';

describe('POST /_sandbox/tokens', () => {
  it('replies as the token endpoint does, with scope read by default', async () => {
    const sandbox = await sandboxFor();
    const answer = await admin(sandbox, 'POST', '/_sandbox/tokens', { user: MAYA });
    const grant = JSON.parse(answer.body);
    expect(grant).toMatchObject({ token_type: 'bearer', expires_in: 2_592_000, scope: 'read', info: { email: MAYA } });
    expect((await callApi(sandbox, grant.access_token, 'GET', '/v2/droplets')).status).toBe(200);
    expect((await refreshWith(sandbox, grant.refresh_token)).status).toBe(200);
  });

  it('issues tokens for a team and for another application, listed under My applications', async () => {
    const sandbox = await sandboxFor();
    const [team] = userOf(sandbox, TOMAS).teams;
    const other = sandbox.world.seed.applications[1];
    const grant = await tokenFor(sandbox, { user: TOMAS, team: team?.uuid, client_id: other?.clientId });
    expect(grant.info).toMatchObject({ team_uuid: team?.uuid });
    const cookie = await signIn(sandbox, TOMAS);
    expect((await send(sandbox.ready.auth_url, '/panel/applications', { headers: { cookie } })).body).toContain(
      'Sandbox Dashboard',
    );
  });

  it.each([
    {},
    { user: 'nobody' },
    { user: MAYA, scope: 'write' },
    { user: MAYA, scope: 1 },
    { user: MAYA, team: 'Harbour Works' },
    { user: MAYA, client_id: 'x' },
  ])('rejects %j', async (body) => {
    const sandbox = await sandboxFor();
    expect((await admin(sandbox, 'POST', '/_sandbox/tokens', body)).status).toBe(422);
  });

  it('expire invalidates the access token and keeps the refresh token', async () => {
    const sandbox = await sandboxFor();
    const grant = await tokenFor(sandbox);
    expect((await admin(sandbox, 'POST', '/_sandbox/tokens/expire', { token: grant.access_token })).status).toBe(204);
    expect((await callApi(sandbox, grant.access_token, 'GET', '/v2/droplets')).status).toBe(404);
    expect((await refreshWith(sandbox, grant.refresh_token)).status).toBe(200);
  });

  it('revoke invalidates both tokens', async () => {
    const sandbox = await sandboxFor();
    const grant = await tokenFor(sandbox);
    expect((await admin(sandbox, 'POST', '/_sandbox/tokens/revoke', { token: grant.refresh_token })).status).toBe(204);
    expect((await callApi(sandbox, grant.access_token, 'GET', '/v2/droplets')).status).toBe(404);
    expect((await refreshWith(sandbox, grant.refresh_token)).status).toBe(400);
  });

  it('refresh replaces the pair as another client would', async () => {
    const sandbox = await sandboxFor();
    const grant = await tokenFor(sandbox);
    const fresh = JSON.parse(
      (await admin(sandbox, 'POST', '/_sandbox/tokens/refresh', { token: grant.access_token })).body,
    );
    expect((await callApi(sandbox, grant.access_token, 'GET', '/v2/droplets')).status).toBe(404);
    expect((await refreshWith(sandbox, grant.refresh_token)).status).toBe(400);
    expect((await callApi(sandbox, fresh.access_token, 'GET', '/v2/droplets')).status).toBe(200);
    expect((await admin(sandbox, 'POST', '/_sandbox/tokens/refresh', { token: grant.access_token })).status).toBe(409);
  });

  it.each(['expire', 'revoke', 'refresh'])('%s of an unknown token is 404, without one 422', async (verb) => {
    const sandbox = await sandboxFor();
    expect((await admin(sandbox, 'POST', `/_sandbox/tokens/${verb}`, { token: 'x' })).status).toBe(404);
    expect((await admin(sandbox, 'POST', `/_sandbox/tokens/${verb}`, {})).status).toBe(422);
  });
});
