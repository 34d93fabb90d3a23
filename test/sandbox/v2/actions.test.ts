import { describe, expect, it } from 'vitest';
import { admin, callApi, sandboxFor, TOMAS, tokenFor, userOf } from '../requests.ts';

describe('GET /v2/actions', () => {
  it('lists the actions of the account, newest first', async () => {
    const sandbox = await sandboxFor();
    const { access_token } = await tokenFor(sandbox);
    const { actions, links, meta } = JSON.parse((await callApi(sandbox, access_token, 'GET', '/v2/actions')).body);
    expect(links).toEqual({});
    expect(meta).toEqual({ total: 3 });
    const times = actions.map(({ started_at }: { started_at: string }) => started_at);
    expect(times).toEqual([...times].sort().reverse());
    expect(actions[0]).toEqual({
      id: expect.any(Number),
      status: 'completed',
      type: 'create',
      started_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      completed_at: expect.stringMatching(/Z$/),
      resource_id: expect.any(Number),
      resource_type: 'droplet',
      region: {
        name: 'Frankfurt 1',
        slug: 'fra1',
        features: expect.any(Array),
        available: true,
        sizes: expect.any(Array),
      },
      region_slug: 'fra1',
    });
  });

  it('a creation is in progress until the droplet is active, on the virtual clock', async () => {
    const sandbox = await sandboxFor();
    await admin(sandbox, 'POST', '/_sandbox/clock', { freeze: true });
    const { access_token } = await tokenFor(sandbox);
    const created = JSON.parse((await callApi(sandbox, access_token, 'POST', '/v2/droplets', CREATION)).body);
    const path = new URL(created.links.actions[0].href).pathname;
    const during = JSON.parse((await callApi(sandbox, access_token, 'GET', path)).body).action;
    expect(during).toMatchObject({ status: 'in-progress', completed_at: null, resource_id: created.droplet.id });
    const [newest] = JSON.parse((await callApi(sandbox, access_token, 'GET', '/v2/actions?per_page=1')).body).actions;
    expect(newest).toEqual(during);
    await admin(sandbox, 'POST', '/_sandbox/clock', { advance: '5s' });
    const after = JSON.parse((await callApi(sandbox, access_token, 'GET', path)).body).action;
    expect(after.status).toBe('completed');
    expect(Date.parse(after.completed_at) - Date.parse(after.started_at)).toBe(5_000);
  });

  it('shows no action of another account', async () => {
    const sandbox = await sandboxFor();
    const own = await tokenFor(sandbox);
    const { actions } = JSON.parse((await callApi(sandbox, own.access_token, 'GET', '/v2/actions')).body);
    const [team] = userOf(sandbox, TOMAS).teams;
    for (const body of [{ user: TOMAS }, { user: TOMAS, team: team?.uuid }]) {
      const other = await tokenFor(sandbox, body);
      expect((await callApi(sandbox, other.access_token, 'GET', `/v2/actions/${actions[0].id}`)).status).toBe(404);
    }
    for (const id of ['abc', '0x17', '1e3', '00', '%20', `${actions[0].id}.0`, `0${actions[0].id}`]) {
      expect((await callApi(sandbox, own.access_token, 'GET', `/v2/actions/${id}`)).status).toBe(404);
    }
  });
});

const CREATION = { name: 'a', size: 's-1vcpu-1gb', image: 'ubuntu-24-04-x64' };
