import { describe, expect, it } from 'vitest';
import {
  admin,
  answerConsentPage,
  authorizationQuery,
  callApi,
  type Exchange,
  errorOf,
  grantFor,
  locationOf,
  MAYA,
  refreshWith,
  sandboxFor,
  signIn,
  TOMAS,
  userOf,
} from '../requests.ts';

describe('refresh', () => {
  it('requires only grant_type and refresh_token, and invalidates the old pair immediately', async () => {
    const sandbox = await sandboxFor();
    const old = await grantFor(sandbox);
    const answer = await refreshWith(sandbox, old.refresh_token);
    expect(answer.status).toBe(200);
    const fresh = JSON.parse(answer.body);
    expect(fresh.access_token).not.toBe(old.access_token);
    expect(fresh.refresh_token).not.toBe(old.refresh_token);
    expect(fresh).toMatchObject({ token_type: 'bearer', expires_in: 2_592_000, scope: 'read', info: old.info });
    expect((await callApi(sandbox, old.access_token, 'GET', '/v2/droplets')).status).toBe(404);
    expect((await callApi(sandbox, fresh.access_token, 'GET', '/v2/droplets')).status).toBe(200);
    expectInvalidGrant(await refreshWith(sandbox, old.refresh_token));
    expect((await refreshWith(sandbox, fresh.refresh_token)).status).toBe(200);
  });

  it('two concurrent requests: one 200', async () => {
    const sandbox = await sandboxFor();
    const { refresh_token } = await grantFor(sandbox);
    const answers = await Promise.all(Array.from({ length: 8 }, () => refreshWith(sandbox, refresh_token)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const answer of answers.filter(({ status }) => status !== 200)) expectInvalidGrant(answer);
  });

  it('is accepted after the access token has expired', async () => {
    const sandbox = await sandboxFor();
    const { access_token, refresh_token } = await grantFor(sandbox);
    await admin(sandbox, 'POST', '/_sandbox/clock', { advance: '400d' });
    expect((await callApi(sandbox, access_token, 'GET', '/v2/droplets')).status).toBe(404);
    expect((await refreshWith(sandbox, refresh_token)).status).toBe(200);
  });

  it('scope, person and team do not change', async () => {
    const sandbox = await sandboxFor();
    const [team] = userOf(sandbox, TOMAS).teams;
    const old = await grantFor(sandbox, { email: TOMAS, fields: { account: team?.uuid ?? '' } });
    const fresh = JSON.parse((await refreshWith(sandbox, old.refresh_token, { scope: 'read write' })).body);
    expect(fresh.scope).toBe('read');
    expect(fresh.info).toEqual(old.info);
    expect(fresh.info.team_uuid).toBe(team?.uuid);
  });

  it('credentials, if sent, must be correct; those of another client do not affect the token', async () => {
    const sandbox = await sandboxFor();
    const { client_id, client_secret } = sandbox.ready;
    const other = sandbox.world.seed.applications[1];
    const { refresh_token } = await grantFor(sandbox);
    for (const wrong of [
      { client_id, client_secret: 'wrong' },
      { client_id: 'unknown', client_secret },
      { client_secret },
      { client_id: 'unknown' },
    ]) {
      const answer = await refreshWith(sandbox, refresh_token, wrong);
      expect([answer.status, errorOf(answer)]).toEqual([401, 'invalid_client']);
    }
    const valid = { client_id: other?.clientId ?? '', client_secret: other?.clientSecret ?? '' };
    expectInvalidGrant(await refreshWith(sandbox, refresh_token, valid));
    expect((await refreshWith(sandbox, refresh_token, { client_id, client_secret })).status).toBe(200);
  });

  it('an access token is not a refresh token, and the implicit flow issues none', async () => {
    const sandbox = await sandboxFor();
    const { access_token } = await grantFor(sandbox);
    expectInvalidGrant(await refreshWith(sandbox, access_token));
    expectInvalidGrant(await refreshWith(sandbox, 'nonsense'));
    const implicit = locationOf(
      await answerConsentPage(
        sandbox,
        await signIn(sandbox, MAYA),
        authorizationQuery(sandbox, { response_type: 'token' }),
      ),
    );
    expect(implicit.hash).not.toContain('refresh_token');
    expectInvalidGrant(
      await refreshWith(sandbox, new URLSearchParams(implicit.hash.slice(1)).get('access_token') ?? ''),
    );
  });
});

function expectInvalidGrant(answer: Exchange): void {
  expect([answer.status, errorOf(answer)]).toEqual([400, 'invalid_grant']);
}
