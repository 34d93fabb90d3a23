import { describe, expect, it } from 'vitest';
import { expectGolden } from '../../fixtures/golden.ts';
import { callApi, FORM, MAYA, sandboxFor, send, signIn, submit, TOMAS, tokenFor } from '../requests.ts';
import { pageText } from './page-text.ts';

describe('POST /panel/migrations/stop', () => {
  it('stops the migration, once for each form', async () => {
    const sandbox = await sandboxFor();
    const { access_token } = await tokenFor(sandbox, { scope: 'read write' });
    const path = `/v2/databases/${sandbox.ready.clusters[0]?.uuid}/online-migration`;
    await callApi(sandbox, access_token, 'PUT', path, { source: { host: 'db.example.com', dbname: '<b>shop</b>' } });
    const cookie = await signIn(sandbox, MAYA);
    const page = await send(sandbox.ready.auth_url, '/panel/migrations', { headers: { cookie } });
    expect(page.body).toContain('<strong>db.example.com/&lt;b&gt;shop&lt;/b&gt;</strong>');
    expectGolden('sandbox', pageText(page.body));
    const answer = await submit(sandbox, page, cookie, {});
    expect([answer.status, answer.headers.location]).toEqual([303, '/panel/migrations']);
    expect(JSON.parse((await callApi(sandbox, access_token, 'GET', path)).body)).toMatchObject({
      status: 'canceled',
      reason: 'stopped_by_user',
    });
    const after = await send(sandbox.ready.auth_url, '/panel/migrations', { headers: { cookie } });
    expect(after.body).not.toContain('/panel/migrations/stop');
    // The CSRF token of the first page is used up.
    expect((await submit(sandbox, page, cookie, {})).status).toBe(403);
  });

  it('does not show or stop the migration of another person', async () => {
    const sandbox = await sandboxFor();
    const { access_token } = await tokenFor(sandbox, { scope: 'read write' });
    const uuid = sandbox.ready.clusters[0]?.uuid ?? '';
    const path = `/v2/databases/${uuid}/online-migration`;
    const source = { host: 'db.example.com', dbname: 'shop' };
    const { id } = JSON.parse((await callApi(sandbox, access_token, 'PUT', path, { source })).body);
    const cookie = await signIn(sandbox, TOMAS);
    const page = await send(sandbox.ready.auth_url, '/panel/migrations', { headers: { cookie } });
    expect(page.status).toBe(200);
    for (const hidden of [uuid, id, 'orders', 'db.example.com']) expect(page.body).not.toContain(hidden);
    const session = sandbox.world.sessions.get(cookie.split('=')[1] ?? '');
    const csrf = session === undefined ? '' : sandbox.world.sessions.issueToken(session, `stop ${id}`);
    const answer = await send(sandbox.ready.auth_url, '/panel/migrations/stop', {
      method: 'POST',
      headers: { ...FORM, cookie, origin: sandbox.ready.auth_url },
      body: new URLSearchParams({ csrf, migration: id }).toString(),
    });
    expect(answer.status).toBe(303);
    expect(JSON.parse((await callApi(sandbox, access_token, 'GET', path)).body).status).toBe('running');
  });
});
