import { describe, expect, it } from 'vitest';
import { expectGolden } from '../../fixtures/golden.ts';
import { callApi, grantFor, MAYA, sandboxFor, send, signIn, tokenFor, userOf } from '../requests.ts';
import { pageText } from './page-text.ts';

async function openFixture() {
  const sandbox = await sandboxFor();
  const cookie = await signIn(sandbox, MAYA);
  const show = async (query = ''): Promise<string> =>
    (await send(sandbox.ready.auth_url, `/panel/requests${query}`, { headers: { cookie } })).body;
  return { sandbox, show };
}

describe('the request log of the control panel', () => {
  it('lists requests with client and status, without secrets', async () => {
    const { sandbox, show } = await openFixture();
    const grant = await grantFor(sandbox);
    await callApi(sandbox, grant.access_token, 'GET', '/v2/droplets?name=veiled-name');
    const page = await show();
    expect(page).toMatch(
      /POST \/v1\/oauth\/token<\/span><\/td><td[^>]*><span><span[^>]*>200<[^\n]*<span>Sandbox CLI<\/span><\/td><td[^>]*><span>authorization_code</,
    );
    expect(page).toContain(`token …${grant.access_token.slice(-4)}`);
    const { client_secret } = sandbox.ready;
    for (const secret of [
      grant.access_token,
      grant.refresh_token,
      client_secret,
      userOf(sandbox, MAYA).password,
      'veiled-name',
    ])
      expect(page).not.toContain(secret);
  });

  it('shows for each fault whether the request was carried out and its response delivered', async () => {
    const { sandbox, show } = await openFixture();
    const { access_token } = await tokenFor(sandbox);
    sandbox.faults.add({ match: { path: '/v2/*' }, action: 'commit_then_drop' });
    sandbox.faults.add({ match: { path: '/v2/*' }, action: 'reset' });
    for (let at = 0; at < 2; at += 1)
      await expect(callApi(sandbox, access_token, 'GET', '/v2/actions')).rejects.toThrow();
    const page = await show();
    expect(page).toMatch(/>none<\/span>/);
    expectGolden('sandbox', pageText(page));
  });

  it('is filtered by endpoint, and a path is shown as text', async () => {
    const { sandbox, show } = await openFixture();
    const { access_token } = await tokenFor(sandbox);
    await callApi(sandbox, access_token, 'GET', '/v2/<script>alert(1)</script>');
    await callApi(sandbox, access_token, 'GET', '/v2/droplets');
    const all = await show();
    expect(all).toContain('GET /v2/&lt;script&gt;');
    expect(all).not.toContain('<script>');
    const some = await show(`?endpoint=${encodeURIComponent('GET /v2/droplets')}`);
    expect(some).toContain('<option value="GET /v2/droplets" selected>GET /v2/droplets (1)</option>');
    expect(some.match(/<td class="code"/g)).toHaveLength(1);
    const none = await show('?endpoint=nothing');
    expect(none).not.toContain('<td');
    expectGolden('sandbox', pageText(none));
  });

  it('is newest first, in pages of 50', async () => {
    const { sandbox, show } = await openFixture();
    const { access_token } = await tokenFor(sandbox);
    for (let at = 1; at <= 60; at += 1) await callApi(sandbox, access_token, 'GET', `/v2/droplets/${at}`);
    const endpoint = `?endpoint=${encodeURIComponent('GET /v2/droplets/{id}')}`;
    const first = await show(endpoint);
    expect(first).toMatch(/\/v2\/droplets\/60<[\s\S]*\/v2\/droplets\/11</);
    expect(first.match(/<td class="code"/g)).toHaveLength(50);
    expect(await show(`${endpoint}&page=2`)).toMatch(/\/v2\/droplets\/10<[\s\S]*\/v2\/droplets\/1</);
  });
});
