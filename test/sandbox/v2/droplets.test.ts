import { describe, expect, it } from 'vitest';
import { IMAGES, REGIONS, SIZES } from '../../../src/sandbox/v2/catalogue.ts';
import { replaceAliases } from '../../../src/sandbox/v2/droplet-creation.ts';
import { admin, callApi, MAYA, sandboxFor, send, TOMAS, tokenFor, userOf } from '../requests.ts';

const ATTRIBUTES = { size: 's-1vcpu-1gb', image: 'ubuntu-24-04-x64', region: 'ams3' };

describe('POST /v2/droplets', () => {
  it('name gives one droplet, new and without networks, with its action in links', async () => {
    const sandbox = await sandboxFor();
    const { access_token } = await tokenFor(sandbox);
    const answer = await callApi(sandbox, access_token, 'POST', '/v2/droplets', {
      name: 'web-01',
      ...ATTRIBUTES,
      tags: ['a', 'b'],
    });
    expect(answer.status).toBe(202);
    const { droplet, links, ...rest } = JSON.parse(answer.body);
    expect(rest).toEqual({});
    expect(links).toEqual({
      actions: [
        { id: expect.any(Number), rel: 'create', href: `${sandbox.ready.base_url}/v2/actions/${links.actions[0].id}` },
      ],
    });
    expect(droplet).toMatchObject({
      id: expect.any(Number),
      name: 'web-01',
      memory: 1024,
      vcpus: 1,
      disk: 25,
      locked: true,
      status: 'new',
      features: [],
      backup_ids: [],
      next_backup_window: null,
      snapshot_ids: [],
      image: {
        id: 155_133_621,
        slug: 'ubuntu-24-04-x64',
        distribution: 'Ubuntu',
        public: true,
        type: 'base',
        status: 'available',
      },
      volume_ids: [],
      size: { slug: 's-1vcpu-1gb', memory: 1024, price_monthly: 6, available: true },
      size_slug: 's-1vcpu-1gb',
      networks: { v4: [], v6: [] },
      region: { slug: 'ams3', name: 'Amsterdam 3' },
      tags: ['a', 'b'],
    });
  });

  it('becomes active with networks after 5 s of the virtual clock', async () => {
    const sandbox = await sandboxFor();
    await admin(sandbox, 'POST', '/_sandbox/clock', { freeze: true });
    const { access_token } = await tokenFor(sandbox);
    const { droplet } = JSON.parse(
      (await callApi(sandbox, access_token, 'POST', '/v2/droplets', { name: 'a', ...ATTRIBUTES, ipv6: true })).body,
    );
    const path = `/v2/droplets/${droplet.id}`;
    await admin(sandbox, 'POST', '/_sandbox/clock', { advance: 4_999 });
    expect(JSON.parse((await callApi(sandbox, access_token, 'GET', path)).body).droplet.status).toBe('new');
    await admin(sandbox, 'POST', '/_sandbox/clock', { advance: 1 });
    const after = JSON.parse((await callApi(sandbox, access_token, 'GET', path)).body).droplet;
    expect(after).toMatchObject({ status: 'active', locked: false, features: ['ipv6'] });
    expect(after.networks.v4.map(({ type }: { type: string }) => type).sort()).toEqual(['private', 'public']);
    expect(after.networks.v6).toHaveLength(1);
    expect(after.created_at).toBe(droplet.created_at);
  });

  it('names gives one droplet per name, order kept, duplicates and taken names allowed', async () => {
    const sandbox = await sandboxFor();
    const { access_token } = await tokenFor(sandbox);
    const names = ['c', 'a', 'b', 'a', 'web-01'];
    const answer = await callApi(sandbox, access_token, 'POST', '/v2/droplets', { names, ...ATTRIBUTES });
    expect(answer.status).toBe(202);
    const { droplets, links, droplet } = JSON.parse(answer.body);
    expect(droplet).toBeUndefined();
    expect(droplets.map(({ name }: { name: string }) => name)).toEqual(names);
    expect(new Set(droplets.map(({ id }: { id: number }) => id)).size).toBe(5);
    expect(links.actions).toHaveLength(5);
    for (const [index, { id }] of links.actions.entries()) {
      const { action } = JSON.parse((await callApi(sandbox, access_token, 'GET', `/v2/actions/${id}`)).body);
      expect(action.resource_id).toBe(droplets[index].id);
    }
  });

  it('a single entry in names is answered with droplets', async () => {
    const sandbox = await sandboxFor();
    const { access_token } = await tokenFor(sandbox);
    const answer = await callApi(sandbox, access_token, 'POST', '/v2/droplets', { names: ['a'], ...ATTRIBUTES });
    expect(JSON.parse(answer.body).droplets).toHaveLength(1);
  });

  it('a name of more than 255 letters is refused with its length', async () => {
    const sandbox = await sandboxFor();
    const { access_token } = await tokenFor(sandbox);
    const body = { ...ATTRIBUTES, name: 'a'.repeat(256) };
    const answer = await callApi(sandbox, access_token, 'POST', '/v2/droplets', body);
    expect([answer.status, JSON.parse(answer.body).message]).toEqual([
      422,
      expect.stringMatching(/^name "a+…" has 256 /),
    ]);
  });

  it('an invalid name and more than ten names create nothing', async () => {
    const sandbox = await sandboxFor();
    const { access_token } = await tokenFor(sandbox);
    const before = sandbox.world.droplets.of(userOf(sandbox, MAYA).uuid).length;
    const eleven = Array.from({ length: 11 }, (_, index) => `n${index}`);
    for (const names of [
      ['ok', 'not ok'],
      ['ok', ''],
      ['ok', null],
      ['ok', 1],
      ['ok', '-a'],
      ['ok', 'a-'],
      ['ok', 'a'.repeat(256)],
      eleven,
      'ok',
    ]) {
      const answer = await callApi(sandbox, access_token, 'POST', '/v2/droplets', { names, ...ATTRIBUTES });
      expect(answer.status).toBe(422);
      expect(JSON.parse(answer.body)).toMatchObject({
        id: 'unprocessable_entity',
        message: expect.stringContaining('names'),
      });
    }
    expect(sandbox.world.droplets.of(userOf(sandbox, MAYA).uuid)).toHaveLength(before);
    expect(
      (await callApi(sandbox, access_token, 'POST', '/v2/droplets', { names: eleven.slice(1), ...ATTRIBUTES })).status,
    ).toBe(202);
  });

  it.each([
    ['name', {}],
    ['name', { name: 'a', names: ['b'] }],
    ['name', { name: 'a b' }],
    ['name', { name: 7 }],
    ['name', { name: ['a'] }],
    ['name', { name: null, names: [] }],
    ['size', { name: 'a', size: undefined }],
    ['size', { name: 'a', size: 'huge' }],
    ['size', { name: 'a', size: 1 }],
    ['image', { name: 'a', image: undefined }],
    ['image', { name: 'a', image: 'windows' }],
    ['image', { name: 'a', image: 1 }],
    ['image', { name: 'a', image: '1' }],
    ['image', { name: 'a', image: '0164502311' }],
    ['image', { name: 'a', image: '164502311.0' }],
    ['image', { name: 'a', image: {} }],
    ['region', { name: 'a', region: 'moon1' }],
    ['region', { name: 'a', region: 3 }],
    ['tags', { name: 'a', tags: 'web' }],
    ['tags', { name: 'a', tags: ['two words'] }],
    ['ipv6', { name: 'a', ipv6: 'yes' }],
    ['ssh_keys', { name: 'a', ssh_keys: 'key' }],
    ['user_data', { name: 'a', user_data: 1 }],
  ])('422 names the field %s: %j', async (field, changes) => {
    const sandbox = await sandboxFor();
    const { access_token } = await tokenFor(sandbox);
    const answer = await callApi(sandbox, access_token, 'POST', '/v2/droplets', { ...ATTRIBUTES, ...changes });
    expect(answer.status).toBe(422);
    expect(JSON.parse(answer.body).message).toContain(field);
  });

  it('accepts null, empty lists, unknown attributes, a numeric image, no region, and a newline after the body', async () => {
    const sandbox = await sandboxFor();
    const { access_token } = await tokenFor(sandbox);
    for (const body of [
      {
        ...ATTRIBUTES,
        name: 'a',
        names: null,
        ssh_keys: null,
        volumes: [],
        tags: null,
        user_data: null,
        vpc_uuid: null,
        region: null,
      },
      { ...ATTRIBUTES, name: 'a', names: [], future: { x: [1] } },
      { ...ATTRIBUTES, name: null, names: ['a'] },
      { name: 'a', size: '512mb', image: 164_502_311 },
      { name: 'a', size: '512mb', image: '164502311' },
    ]) {
      const answer = await callApi(sandbox, access_token, 'POST', '/v2/droplets', `${JSON.stringify(body)}\r\n`);
      expect(answer.status).toBe(202);
    }
    const { droplet } = JSON.parse(
      (await callApi(sandbox, access_token, 'POST', '/v2/droplets', { name: 'a', size: '512mb', image: 164_502_311 }))
        .body,
    );
    expect(droplet).toMatchObject({ image: { slug: 'debian-12-x64' }, region: { slug: 'nyc3' } });
  });

  it('accepts repeated keys with equal values and rejects different ones', async () => {
    const sandbox = await sandboxFor();
    const { access_token } = await tokenFor(sandbox);
    const rest = '"size":"1gb","image":"debian-12-x64"';
    for (const [twice, status] of [
      ['"name":"a","name":"a"', 202],
      ['"name":"a","n\\u0061me":"a"', 202],
      ['"names":["a","b"],"names":[ "a", "b" ]', 202],
      ['"name":"a","name":"b"', 422],
      ['"name":"a","name":null', 422],
      ['"name":"a","tags":["x"],"tags":["y"]', 422],
    ] as const) {
      const answer = await callApi(sandbox, access_token, 'POST', '/v2/droplets', `{${twice},${rest}}`);
      expect(answer.status).toBe(status);
    }
  });

  it('a body that is not JSON is 400; JSON that is not an object is 422', async () => {
    const sandbox = await sandboxFor();
    const { access_token } = await tokenFor(sandbox);
    for (const [body, status] of [
      ['', 400],
      ['{', 400],
      ["{'name':'a'}", 400],
      ['[]', 422],
      ['null', 422],
      ['"x"', 422],
    ] as const) {
      const answer = await callApi(sandbox, access_token, 'POST', '/v2/droplets', body);
      expect(answer.status).toBe(status);
    }
  });

  it('ids are unique under concurrent posts', async () => {
    const sandbox = await sandboxFor();
    const { access_token } = await tokenFor(sandbox);
    const names = Array.from({ length: 10 }, (_, index) => `n${index}`);
    const answers = await Promise.all(
      Array.from({ length: 20 }, () =>
        callApi(sandbox, access_token, 'POST', '/v2/droplets', { names, ...ATTRIBUTES }),
      ),
    );
    const ids = answers.flatMap(({ body }) => JSON.parse(body).droplets.map(({ id }: { id: number }) => id));
    expect(new Set(ids).size).toBe(200);
  });

  it('the droplet limit is 422 with id droplet_limit and creates nothing', async () => {
    const sandbox = await sandboxFor({ dropletLimit: 5 });
    const { access_token } = await tokenFor(sandbox);
    const answer = await callApi(sandbox, access_token, 'POST', '/v2/droplets', {
      names: ['a', 'b', 'c'],
      ...ATTRIBUTES,
    });
    expect(answer.status).toBe(422);
    expect(JSON.parse(answer.body).id).toBe('droplet_limit');
    expect(
      (await callApi(sandbox, access_token, 'POST', '/v2/droplets', { names: ['a', 'b'], ...ATTRIBUTES })).status,
    ).toBe(202);
    expect((await callApi(sandbox, access_token, 'POST', '/v2/droplets', { name: 'c', ...ATTRIBUTES })).status).toBe(
      422,
    );
  });

  it('a write without application/json is 415 and creates nothing', async () => {
    const sandbox = await sandboxFor();
    const { access_token } = await tokenFor(sandbox);
    const before = sandbox.world.droplets.of(userOf(sandbox, MAYA).uuid).length;
    for (const type of [
      undefined,
      'text/plain',
      'application/x-www-form-urlencoded',
      'application/jsonx',
      'text/json',
    ]) {
      const answer = await send(sandbox.ready.base_url, '/v2/droplets', {
        method: 'POST',
        headers: { authorization: `Bearer ${access_token}`, ...(type === undefined ? {} : { 'content-type': type }) },
        body: JSON.stringify({ name: 'a', ...ATTRIBUTES }),
      });
      expect(answer.status).toBe(415);
    }
    expect(sandbox.world.droplets.of(userOf(sandbox, MAYA).uuid)).toHaveLength(before);
  });
});

describe('GET and DELETE /v2/droplets', () => {
  it('HEAD replies as GET, without the body', async () => {
    const sandbox = await sandboxFor();
    const { access_token } = await tokenFor(sandbox);
    const get = await callApi(sandbox, access_token, 'GET', '/v2/droplets');
    const head = await callApi(sandbox, access_token, 'HEAD', '/v2/droplets');
    expect([head.status, head.body]).toEqual([200, '']);
    expect(head.headers['content-length']).toBe(get.headers['content-length']);
    expect(head.headers['content-type']).toBe('application/json; charset=utf-8');
  });

  it('filters by name and tag', async () => {
    const sandbox = await sandboxFor();
    const { access_token } = await tokenFor(sandbox);
    for (const [query, names] of [
      ['name=web-02', ['web-02']],
      ['tag_name=web', ['web-01', 'web-02']],
      ['tag_name=web&name=web-01', ['web-01']],
      ['name=WEB-01', []],
    ] as const) {
      const { droplets, meta } = JSON.parse(
        (await callApi(sandbox, access_token, 'GET', `/v2/droplets?${query}`)).body,
      );
      expect(droplets.map(({ name }: { name: string }) => name)).toEqual(names);
      expect(meta.total).toBe(names.length);
    }
  });

  it('a token of a team lists the droplets of the team, and no token those of other accounts', async () => {
    const sandbox = await sandboxFor();
    const [team] = userOf(sandbox, TOMAS).teams;
    const maya = await tokenFor(sandbox);
    const tomas = await tokenFor(sandbox, { user: TOMAS });
    const under = await tokenFor(sandbox, { user: TOMAS, team: team?.name });
    const lists = await Promise.all(
      [maya, tomas, under].map(({ access_token }) => callApi(sandbox, access_token, 'GET', '/v2/droplets')),
    );
    const names = lists.map(({ body }) => JSON.parse(body).droplets.map(({ name }: { name: string }) => name));
    expect(names).toEqual([['web-01', 'web-02', 'db-01'], ['scratch'], ['build-01', 'build-02']]);
    const foreign = JSON.parse(lists[2]?.body ?? '').droplets[0].id;
    for (const { access_token } of [maya, tomas]) {
      expect((await callApi(sandbox, access_token, 'GET', `/v2/droplets/${foreign}`)).status).toBe(404);
      expect((await callApi(sandbox, access_token, 'DELETE', `/v2/droplets/${foreign}`)).status).toBe(404);
    }
  });

  it('DELETE is 204 once and records an action', async () => {
    const sandbox = await sandboxFor();
    const { access_token } = await tokenFor(sandbox);
    const { droplets } = JSON.parse((await callApi(sandbox, access_token, 'GET', '/v2/droplets')).body);
    const path = `/v2/droplets/${droplets[1].id}`;
    const gone = await callApi(sandbox, access_token, 'DELETE', path);
    expect([gone.status, gone.body, gone.headers['content-length']]).toEqual([204, '', undefined]);
    expect((await callApi(sandbox, access_token, 'DELETE', path)).status).toBe(404);
    expect((await callApi(sandbox, access_token, 'GET', path)).status).toBe(404);
    const after = JSON.parse((await callApi(sandbox, access_token, 'GET', '/v2/droplets')).body);
    expect(after.droplets.map(({ name }: { name: string }) => name)).toEqual(['web-01', 'db-01']);
    const [newest] = JSON.parse((await callApi(sandbox, access_token, 'GET', '/v2/actions')).body).actions;
    expect(newest).toMatchObject({ type: 'destroy', status: 'completed', resource_id: droplets[1].id });
  });
});

it('DELETE /v2/droplets?tag_name= deletes the droplets of the account with this tag', async () => {
  const sandbox = await sandboxFor();
  const { access_token } = await tokenFor(sandbox);
  const call = (method: string, path: string, body?: object) =>
    callApi(sandbox, access_token, method, path, body === undefined ? undefined : JSON.stringify(body));
  const attributes = { size: 's-1vcpu-1gb', image: 'ubuntu-24-04-x64' };
  await call('POST', '/v2/droplets', { names: ['del-a', 'del-b'], tags: ['temporary'], ...attributes });
  await call('POST', '/v2/droplets', { name: 'del-c', ...attributes });
  for (const query of ['', '?tag_name=', '?tag_name=a&tag_name=b'])
    expect((await call('DELETE', `/v2/droplets${query}`)).status).toBe(422);
  expect((await call('DELETE', '/v2/droplets?tag_name=temporary')).status).toBe(204);
  const { droplets } = JSON.parse((await call('GET', '/v2/droplets?per_page=200')).body);
  const names = droplets.map(({ name }: { name: string }) => name);
  expect(names.filter((name: string) => name.startsWith('del-'))).toEqual(['del-c']);
});

it.each([
  ['a region of the place', { region: 'nyc1' }, { region: 'nyc3' }],
  ['the letters of a place', { region: 'sfo' }, { region: 'sfo3' }],
  ['an alias of a size', { size: '2gb' }, { size: 's-2vcpu-2gb' }],
  ['an image by its slug', { image: 'debian-11-x64' }, { image: 186_442_105 }],
  ['an image by its id', { image: 164_502_311 }, { image: 186_442_105 }],
  ['values that are not in the catalogue', { region: 'moon', size: 1, image: null }, undefined],
  ['no attribute', { name: 'a' }, undefined],
])('%s', (_what, sent, stored) => {
  expect(JSON.parse(replaceAliases(JSON.stringify({ name: 'a', ...sent })))).toEqual({
    name: 'a',
    ...(stored ?? sent),
  });
});

it.each(['', '[1]', '{"size":"1gb","size":"2gb"}', '{'])('the body %j stays as it is', (body) => {
  expect(replaceAliases(body)).toBe(body);
});

it('what is stored is stored as it is when it is sent again', () => {
  for (const [size, region, image] of [...SIZES.keys()].map((slug, at) => [
    slug,
    [...REGIONS.keys()][at % REGIONS.size],
    [...IMAGES.keys()][at % IMAGES.size],
  ])) {
    const once = replaceAliases(JSON.stringify({ size, region, image }));
    expect(replaceAliases(once)).toBe(once);
  }
});
