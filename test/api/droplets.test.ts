import { describe, expect, it } from 'vitest';
import { listAllActions } from '../../src/api/actions.ts';
import type { ApiClient } from '../../src/api/client.ts';
import { decodeDroplet, listDroplets, parseCreatedDroplets } from '../../src/api/droplets.ts';
import { apiOf } from './changing-list.ts';

describe('a droplet', () => {
  it('keeps what the API sent', () => {
    const json = { id: 7, name: 'web', region: { slug: 'nyc3' } };
    expect(decodeDroplet(json)).toEqual({ id: '7', name: 'web', raw: json });
  });

  it.each([
    { id: '007', name: 'web' },
    { id: 1.5, name: 'web' },
    { id: -1, name: 'web' },
    { id: 7 },
    { name: 'web' },
    null,
    [],
    'web',
  ])('%j is none', (json) => {
    expect(decodeDroplet(json)).toBeUndefined();
  });
});

describe('the answer of a creation', () => {
  const created = (json: unknown) => parseCreatedDroplets(Buffer.from(JSON.stringify(json)));
  const [one, two] = [
    { id: 1, name: 'a' },
    { id: 2, name: 'b' },
  ];

  it('for one name and for several is the same afterwards', () => {
    const links = { actions: [{ id: 9, rel: 'create' }] };
    expect(created({ droplet: one, links })).toMatchObject({ droplets: [{ id: '1' }], actionIds: ['9'] });
    expect(created({ droplets: [one, two], links })).toMatchObject({ droplets: [{ id: '1' }, { id: '2' }] });
  });

  it('keeps every digit of the ids', () => {
    const text = '{"droplets":[{"id":9007199254740993,"name":"a"}],"links":{"actions":[{"id":9007199254740995}]}}';
    expect(parseCreatedDroplets(Buffer.from(text))).toMatchObject({
      droplets: [{ id: '9007199254740993' }],
      actionIds: ['9007199254740995'],
    });
  });

  it.each(['1e3', '1.0', '-7', '0', '"x"'])('is not understood when an id is %s', (id) => {
    expect(parseCreatedDroplets(Buffer.from(`{"droplets":[{"id":${id},"name":"a"}]}`))).toBeUndefined();
  });

  it('counts no action that does something else', () => {
    const actions = [{ id: 8, rel: 'assign' }, { id: 9, rel: 'create' }, { id: 10 }];
    expect(created({ droplet: one, links: { actions } })?.actionIds).toEqual(['9', '10']);
  });

  it.each([[{}], [{ links: {} }], [{ links: { actions: 'x' } }], [{ links: { actions: [null, {}, { id: 'x' }] } }]])(
    'with the links %j names no action',
    (more) => {
      expect(created({ droplet: one, ...more })?.actionIds).toEqual([]);
    },
  );

  it.each([null, [], {}, { droplet: null }, { droplets: [one, null] }, { droplets: 'x' }])('%j is none', (json) => {
    expect(created(json)).toBeUndefined();
  });
});

async function pathOf(list: (api: ApiClient) => AsyncGenerator<unknown>): Promise<string | undefined> {
  const api = apiOf(() => ({ droplets: [], actions: [] }));
  await list(api).next();
  return api.requestedPaths[0];
}

it.each([
  [{}, '/v2/droplets?page=1&per_page=200'],
  [{ tag: 'a b' }, '/v2/droplets?tag_name=a+b&page=1&per_page=200'],
  [{ name: 'web&1' }, '/v2/droplets?name=web%261&page=1&per_page=200'],
])('droplets with %j are asked for by %s', async (filter, path) => {
  expect(await pathOf((api) => listDroplets(api, filter))).toBe(path);
});

it('actions are asked for by the page', async () => {
  expect(await pathOf((api) => listAllActions(api, { pageSize: 50 }))).toBe('/v2/actions?page=1&per_page=50');
});
