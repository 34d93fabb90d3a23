import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { listAllActions } from '../../src/api/actions.ts';
import type { ApiClient } from '../../src/api/client.ts';
import { decodeDroplet, listDroplets, parseCreatedDroplets } from '../../src/api/droplets.ts';
import { apiOf } from './changing-list.ts';

describe('a droplet', () => {
  it('keeps what the API sent', () => {
    const json = { id: 7, name: 'web', region: { slug: 'nyc3' } };
    expect(decodeDroplet(json)).toEqual({ id: 7, name: 'web', raw: json });
  });

  it.each([{ id: '7', name: 'web' }, { id: 7 }, { name: 'web' }, null, [], 'web'])('%j is none', (json) => {
    expect(decodeDroplet(json)).toBeUndefined();
  });
});

describe('the answer of a creation', () => {
  const created = (json: unknown) => parseCreatedDroplets(Buffer.from(JSON.stringify(json)));
  const toldBy = (text: string) => {
    const read = parseCreatedDroplets(Buffer.from(text));
    return read && { ...read, droplets: read.droplets.map(({ id, name }) => ({ id, name })) };
  };
  const [one, two] = [
    { id: 1, name: 'a' },
    { id: 2, name: 'b' },
  ];

  it('for one name and for several is the same afterwards', () => {
    const links = { actions: [{ id: 9, rel: 'create' }] };
    expect(created({ droplet: one, links })).toMatchObject({ droplets: [{ id: 1 }], actionIds: [9] });
    expect(created({ droplets: [one, two], links })).toMatchObject({ droplets: [{ id: 1 }, { id: 2 }] });
  });

  it('is not understood when an id has no place in a double, and such an action is left out', () => {
    const text = (id: string, action: string) =>
      `{"droplets":[{"id":${id},"name":"a"}],"links":{"actions":[{"id":${action}}]}}`;
    expect(parseCreatedDroplets(Buffer.from(text('9007199254740993', '1')))).toBeUndefined();
    expect(parseCreatedDroplets(Buffer.from(text('9007199254740991', '9007199254740993')))).toMatchObject({
      droplets: [{ id: 9007199254740991 }],
      actionIds: [],
    });
  });

  it('is read like any JSON, whatever stands in it twice, elsewhere or not at all', () => {
    const action = fc.record({ id: fc.nat(), rel: fc.constantFrom('create', 'assign'), href: fc.webUrl() });
    const actions = fc.array(fc.oneof(action, fc.jsonValue()), { maxLength: 3 });
    const links = fc.oneof(fc.record({ actions }), fc.jsonValue());
    const made = fc.record({ id: fc.nat(), name: fc.string(), links });
    const member = fc.oneof(
      fc.tuple(fc.constant('droplets'), fc.array(made, { maxLength: 3 })),
      fc.tuple(fc.constantFrom('links', 'link\\u0073', 'actions'), links),
    );
    fc.assert(
      fc.property(fc.array(member, { maxLength: 5 }), fc.constantFrom('', ' '), (members, blank) => {
        const text = members.map(([name, value]) => `"${name}":${blank}${JSON.stringify(value)}`).join(',');
        // With a line break it is left to the parser as a whole.
        expect(toldBy(`{${text}}`)).toEqual(toldBy(`{\n${text}}`));
      }),
      { numRuns: 2_000 },
    );
  });

  it('counts no action that does something else', () => {
    const actions = [{ id: 8, rel: 'assign' }, { id: 9, rel: 'create' }, { id: 10 }];
    expect(created({ droplet: one, links: { actions } })?.actionIds).toEqual([9, 10]);
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
