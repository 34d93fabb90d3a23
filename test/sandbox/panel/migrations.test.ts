import { describe, expect, it } from 'vitest';
import { expectGolden } from '../../fixtures/golden.ts';
import { callApi, MAYA, sandboxFor, send, signIn, submit, tokenFor } from '../requests.ts';
import { pageText } from './page-text.ts';

describe('POST /panel/migrations/stop', () => {
  it('stops the migration, once for each form', async () => {
    const sandbox = await sandboxFor();
    const { access_token } = await tokenFor(sandbox, { scope: 'read write' });
    const path = `/v2/databases/${sandbox.ready.clusters[0]?.uuid}/online-migration`;
    await callApi(sandbox, access_token, 'PUT', path, { source: { host: 'db.example.com', dbname: '<b>shop</b>' } });
    const cookie = await signIn(sandbox, MAYA);
    const page = await send(sandbox.ready.auth_url, '/panel/migrations', { headers: { cookie } });
    expect(page.body).toContain('from db.example.com/&lt;b&gt;shop&lt;/b&gt;');
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
});
