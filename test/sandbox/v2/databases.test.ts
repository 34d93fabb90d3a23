import { describe, expect, it } from 'vitest';
import { callApi, sandboxFor, TOMAS, tokenFor, userOf } from '../requests.ts';

describe('GET /v2/databases', () => {
  it('lists the clusters of the account page by page', async () => {
    const sandbox = await sandboxFor();
    const { access_token } = await tokenFor(sandbox, { scope: 'read' });
    const [pg, redis] = sandbox.ready.clusters;
    const list = async (query: string) =>
      JSON.parse((await callApi(sandbox, access_token, 'GET', `/v2/databases${query}`)).body);
    const first = await list('?per_page=1');
    expect(first.databases).toEqual([
      { id: pg?.uuid, name: 'orders', engine: 'pg', version: '17', status: 'online', connection: { port: 25_061 } },
    ]);
    expect(first.meta).toEqual({ total: 2 });
    expect((await list('?per_page=1&page=2')).databases).toMatchObject([{ id: redis?.uuid, engine: 'redis' }]);
  });

  it('lists no cluster of another account', async () => {
    const sandbox = await sandboxFor();
    const [team] = userOf(sandbox, TOMAS).teams;
    for (const holder of [{ user: TOMAS }, { user: TOMAS, team: team?.uuid }]) {
      const { access_token } = await tokenFor(sandbox, holder);
      const { body } = await callApi(sandbox, access_token, 'GET', '/v2/databases');
      expect(JSON.parse(body)).toEqual({ databases: [], links: {}, meta: { total: 0 } });
    }
  });

  it('refuses a page size that is too large', async () => {
    const sandbox = await sandboxFor();
    const { access_token } = await tokenFor(sandbox);
    expect((await callApi(sandbox, access_token, 'GET', '/v2/databases?per_page=201')).status).toBe(422);
  });
});
