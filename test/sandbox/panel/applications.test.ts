import { describe, expect, it } from 'vitest';
import { expectGolden } from '../../fixtures/golden.ts';
import {
  admin,
  answerConsentPage,
  authorizationQuery,
  authorize,
  callApi,
  codeFor,
  errorOf,
  exchangeParameters,
  grantFor,
  locationOf,
  MAYA,
  postToken,
  refreshWith,
  sandboxFor,
  send,
  signIn,
  submit,
  TOMAS,
  tokenFor,
} from '../requests.ts';
import { pageText } from './page-text.ts';

describe('POST /panel/applications/revoke', () => {
  it('ends codes, access tokens and refresh tokens, and the next prompt=none is consent_required', async () => {
    const sandbox = await sandboxFor();
    const cookie = await signIn(sandbox, MAYA);
    const grant = await grantFor(sandbox);
    const code = await codeFor(sandbox);
    const page = await send(sandbox.ready.auth_url, '/panel/applications', { headers: { cookie } });
    expectGolden('sandbox', pageText(page.body), 'before');
    expect(page.body).toContain('Sandbox CLI');
    const answer = await submit(sandbox, page, cookie, {});
    expect([answer.status, answer.headers.location]).toEqual([303, '/panel/applications']);

    expect((await callApi(sandbox, grant.access_token, 'GET', '/v2/droplets')).status).toBe(404);
    expect(errorOf(await refreshWith(sandbox, grant.refresh_token))).toBe('invalid_grant');
    expect(errorOf(await postToken(sandbox, exchangeParameters(sandbox, code)))).toBe('invalid_grant');
    const silent = locationOf(await authorize(sandbox, authorizationQuery(sandbox, { prompt: 'none' }), cookie));
    expect(silent.searchParams.get('error')).toBe('consent_required');
    const after = await send(sandbox.ready.auth_url, '/panel/applications', { headers: { cookie } });
    expect(after.body).not.toContain('Sandbox CLI');
    expectGolden('sandbox', pageText(after.body));
  });

  it('does not affect other people and applications, and a new approval restores nothing', async () => {
    const sandbox = await sandboxFor();
    const cookie = await signIn(sandbox, MAYA);
    const old = await grantFor(sandbox);
    const neighbour = await grantFor(sandbox, { email: TOMAS });
    const other = await tokenFor(sandbox, { client_id: sandbox.world.seed.applications[1]?.clientId });
    const page = await send(sandbox.ready.auth_url, '/panel/applications', { headers: { cookie } });
    await submit(sandbox, page, cookie, {});
    await answerConsentPage(sandbox, cookie, authorizationQuery(sandbox));
    expect((await callApi(sandbox, neighbour.access_token, 'GET', '/v2/droplets')).status).toBe(200);
    expect((await callApi(sandbox, other.access_token, 'GET', '/v2/droplets')).status).toBe(200);
    expect((await callApi(sandbox, old.access_token, 'GET', '/v2/droplets')).status).toBe(404);
  });

  it('the form can be submitted once, by its own session', async () => {
    const sandbox = await sandboxFor();
    const cookie = await signIn(sandbox, MAYA);
    const grant = await grantFor(sandbox);
    const page = await send(sandbox.ready.auth_url, '/panel/applications', { headers: { cookie } });
    expect((await submit(sandbox, page, await signIn(sandbox, TOMAS), {})).status).toBe(403);
    expect((await submit(sandbox, page, cookie, { csrf: 'x' })).status).toBe(403);
    expect((await callApi(sandbox, grant.access_token, 'GET', '/v2/droplets')).status).toBe(200);
    expect((await submit(sandbox, page, cookie, {})).status).toBe(303);
    expect((await submit(sandbox, page, cookie, {})).status).toBe(403);
  });
});

describe('an access token expires after 30 days', () => {
  it('is valid for 30 days', async () => {
    const sandbox = await sandboxFor();
    await admin(sandbox, 'POST', '/_sandbox/clock', { freeze: true });
    const { access_token } = await grantFor(sandbox);
    await admin(sandbox, 'POST', '/_sandbox/clock', { advance: 30 * 86_400_000 - 1_000 });
    expect((await callApi(sandbox, access_token, 'GET', '/v2/droplets')).status).toBe(200);
    await admin(sandbox, 'POST', '/_sandbox/clock', { advance: 999 });
    expect((await callApi(sandbox, access_token, 'GET', '/v2/droplets')).status).toBe(200);
    await admin(sandbox, 'POST', '/_sandbox/clock', { advance: 1 });
    expect((await callApi(sandbox, access_token, 'GET', '/v2/droplets')).status).toBe(404);
  });
});
