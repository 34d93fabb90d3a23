import { describe, expect, it } from 'vitest';
import { listAllActions } from '../../src/api/actions.ts';
import type { ApiClient } from '../../src/api/client.ts';
import {
  type DropletReader,
  decodeDroplet,
  findDroplets,
  listDroplets,
  parseCreatedDroplets,
  readDroplets,
} from '../../src/api/droplets.ts';
import { requireOne } from '../../src/droplets/select.ts';
import { reply, serverFor } from '../fixtures/fake-server.ts';
import { apiOf } from './api-of.ts';
import { apiAnswering } from './changing-list.ts';
import { testResponse } from './test-response.ts';

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
  const api = apiAnswering(() => ({ droplets: [], actions: [] }));
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

describe('droplets that are found by name', () => {
  interface Item {
    readonly id: number;
    readonly name: string;
  }

  /** A server with these droplets. `refusals`: how many requests meet the rate limit first. */
  async function readerOf(droplets: readonly Item[], { refusals = 0, ignoresName = false } = {}) {
    let left = refusals;
    const paused: number[] = [];
    const server = await serverFor(({ url }, response) => {
      if (left-- > 0) return reply(response, 429, {}, { 'retry-after': '3' });
      const { pathname, searchParams } = new URL(url, 'http://x');
      const id = /^\/v2\/droplets\/(\d+)$/.exec(pathname)?.[1];
      if (id !== undefined) {
        const droplet = droplets.find((one) => String(one.id) === id);
        return droplet === undefined
          ? reply(response, 404, { id: 'not_found', message: 'no' })
          : reply(response, 200, { droplet });
      }
      if (pathname === '/v2/actions') return reply(response, 200, { actions: [] });
      const name = searchParams.get('name');
      const [page, size] = [Number(searchParams.get('page')), Number(searchParams.get('per_page'))];
      const all = droplets.filter((one) => name === null || ignoresName || one.name === name);
      const next = new URL(url, server.origin);
      next.searchParams.set('page', String(page + 1));
      const links = page * size < all.length ? { pages: { next: next.href } } : {};
      return reply(response, 200, {
        ...{ droplets: all.slice((page - 1) * size, page * size), links, meta: { total: all.length } },
      });
    });
    const api = await apiOf(server.origin);
    const reader: DropletReader = {
      api,
      pause: async (ms) => {
        paused.push(ms);
      },
    };
    const urls = (): readonly string[] =>
      server.seen.map(({ url }) => url).filter((url) => !url.startsWith('/v2/actions'));
    return { reader, urls, paused };
  }

  function account(count: number): readonly Item[] {
    return Array.from({ length: count }, (_, at) => ({ id: 1000 + at, name: `n-${at}` }));
  }

  describe('the droplets that arguments mean', () => {
    it('are looked up where that needs fewer requests than the list', async () => {
      const { reader, urls } = await readerOf(account(1_000));
      const found = await findDroplets(['n-1', 'n-7', 'none'], reader);
      expect([...found].map(([text, { withName }]) => [text, withName.map(({ id }) => id)])).toEqual([
        ['n-1', ['1001']],
        ['n-7', ['1007']],
        ['none', []],
      ]);
      // One request finds out how long the list is.
      expect(urls()).toHaveLength(4);
    });

    it.each([
      [2, 1],
      [100, 2],
    ])('of %i names in a small account take few requests', async (count, most) => {
      const { reader, urls } = await readerOf(account(150));
      const texts = Array.from({ length: count }, (_, at) => `n-${at}`);
      const found = await findDroplets(texts, reader);
      expect([...found.values()].every(({ withName }) => withName.length === 1)).toBe(true);
      expect(urls().length).toBeLessThanOrEqual(Math.max(most, 2));
    });

    it('are looked up by id and by name for a number', async () => {
      const { reader, urls } = await readerOf([...account(3), { id: 5, name: '1001' }]);
      const found = await findDroplets(['1001'], reader);
      expect(found.get('1001')).toMatchObject({ withId: { id: '1001' }, withName: [{ id: '5' }] });
      expect(urls()).toHaveLength(2);
    });

    it('are the same from the list and from lookups', async () => {
      const droplets = [...account(3), { id: 5, name: '1001' }, { id: 6, name: 'n-1' }];
      const texts = ['1001', '1002', 'n-1', 'n-2', '9', '007'];
      const fromList = await findDroplets(texts, (await readerOf(droplets)).reader);
      const { reader } = await readerOf([
        ...droplets,
        ...Array.from({ length: 2_000 }, (_, at) => ({ id: 5000 + at, name: 'x' })),
      ]);
      expect(fromList).toEqual(await findDroplets(texts, reader));
      expect(fromList.get('9')).toEqual({ withId: undefined, withName: [] });
    });

    it('are found when the server ignores the name', async () => {
      const { reader } = await readerOf(account(3), { ignoresName: true });
      expect((await findDroplets(['n-1'], reader)).get('n-1')?.withName.map(({ id }) => id)).toEqual(['1001']);
    });

    it('wait for the rate limit, also before the first page', async () => {
      const first = await readerOf(account(3), { refusals: 2 });
      expect(await readDroplets(first.reader, {}, () => true)).toHaveLength(3);
      expect(first.paused).toEqual([3_000, 3_000]);
      const second = await readerOf(account(3), { refusals: 1 });
      expect((await findDroplets(['1001'], second.reader)).get('1001')?.withId?.id).toBe('1001');
      expect(second.paused).toEqual([3_000]);
    });

    it('are refused when the server returns another droplet for an id', async () => {
      const { reader } = await readerOf([]);
      const api = {
        ...reader.api,
        success: async () => testResponse(200, { droplets: [], droplet: { id: 8, name: 'a' } }),
      };
      await expect(findDroplets(['7'], { ...reader, api })).rejects.toMatchObject({ code: 'api_error' });
    });
  });

  describe('the choice of one droplet', () => {
    const droplet = (id: number, name: string) => ({ id: String(id), name, raw: {} });

    it('is the id, or the only one with the name', () => {
      expect(requireOne('7', { withId: droplet(7, 'a'), withName: [] }, 'droplets get')?.id).toBe('7');
      expect(requireOne('7', { withId: undefined, withName: [droplet(3, '7')] }, 'droplets get')?.id).toBe('3');
      expect(requireOne('7', { withId: droplet(7, '7'), withName: [droplet(7, '7')] }, 'droplets get')?.id).toBe('7');
      expect(requireOne('a', { withId: undefined, withName: [] }, 'droplets get')).toBeUndefined();
    });

    it.each([
      [{ withId: droplet(7, 'a'), withName: [droplet(3, '7')] }],
      [{ withId: droplet(7, '7'), withName: [droplet(7, '7'), droplet(3, '7')] }],
      [{ withId: undefined, withName: [droplet(3, '7'), droplet(4, '7')] }],
    ])('is refused for several droplets (%j)', (matches) => {
      expect(() => requireOne('7', matches, 'droplets get')).toThrow(
        expect.objectContaining({ code: 'usage', exitCode: 2 }),
      );
    });
  });
});
