import { describe, expect, it } from 'vitest';
import { admin, callApi, sandboxFor, TOMAS, tokenFor, userOf } from '../requests.ts';

it('GET /v2/account names the person behind the token, and the team of its grant', async () => {
  const sandbox = await sandboxFor();
  const tomas = userOf(sandbox, TOMAS);
  const [team] = tomas.teams;
  const read = async (body: object) => {
    const { access_token: token } = await tokenFor(sandbox, { user: TOMAS, ...body });
    return JSON.parse((await callApi(sandbox, token, 'GET', '/v2/account')).body).account;
  };
  expect(await read({ scope: 'read' })).toMatchObject({ uuid: tomas.uuid, email: TOMAS, team: null });
  expect(await read({ team: team?.uuid })).toMatchObject({ uuid: tomas.uuid, team });
  expect((await callApi(sandbox, 'unknown', 'GET', '/v2/account')).status).toBe(404);
});

it.each([
  [{}, 1_000_000],
  [{ dropletLimit: 5 }, 5],
])('with the options %j, droplet_limit is %i', async (options, limit) => {
  const sandbox = await sandboxFor(options);
  const { access_token } = await tokenFor(sandbox);
  expect(JSON.parse((await callApi(sandbox, access_token, 'GET', '/v2/account')).body).account.droplet_limit).toBe(
    limit,
  );
});

it('each context keeps its approval: revoking one leaves the tokens of the other', async () => {
  const sandbox = await sandboxFor();
  const tomas = userOf(sandbox, TOMAS);
  const personal = await tokenFor(sandbox, { user: TOMAS });
  const team = await tokenFor(sandbox, { user: TOMAS, team: tomas.teams[0]?.uuid });
  const { world } = sandbox;
  const approvals = world.grants.authorizationsOf(tomas.uuid);
  expect(approvals.map((one) => one.team)).toEqual([undefined, tomas.teams[0]?.uuid]);
  expect(world.grants.latestAuthorization(tomas.uuid, sandbox.ready.client_id)?.team).toBe(tomas.teams[0]?.uuid);
  const [first] = approvals;
  if (first !== undefined) world.grants.revokeAuthorization(first);
  expect((await callApi(sandbox, personal.access_token, 'GET', '/v2/droplets')).status).toBe(404);
  expect((await callApi(sandbox, team.access_token, 'GET', '/v2/droplets')).status).toBe(200);
});

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

it.each([
  ['/v2/regions', 'nyc3'],
  ['/v2/sizes', 's-1vcpu-1gb'],
  ['/v2/images', 'ubuntu-24-04-x64'],
])('GET %s is a read-only list with %s', async (path, slug) => {
  const key = path.slice('/v2/'.length);
  const sandbox = await sandboxFor();
  const { access_token } = await tokenFor(sandbox);
  const list = async (query: string) =>
    JSON.parse((await callApi(sandbox, access_token, 'GET', `${path}${query}`)).body);
  const all = await list('?per_page=200');
  expect(all[key].map((item: { slug: string }) => item.slug)).toContain(slug);
  expect(all.meta.total).toBe(all[key].length);
  const second = await list('?page=2&per_page=1');
  expect(second[key]).toEqual([all[key][1]]);
  expect((await callApi(sandbox, access_token, 'GET', `${path}?page=0`)).status).toBe(422);
  expect((await callApi(sandbox, access_token, 'POST', path, '{}')).status).toBe(405);
});

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
