import { describe, expect, it } from 'vitest';
import type { ApiResponse } from '../../src/api/api-response.ts';
import type { ApiRequest } from '../../src/api/client.ts';
import { createLane } from '../../src/droplets/lane.ts';
import { createFinder, createScan, type Finder } from '../../src/droplets/lookup.ts';
import { workLoginHints } from '../api/login-hints.ts';
import { apiOf, batchResponse, instantClock, type ScriptedApi } from './batch-fixtures.ts';

describe('droplet by name finder', () => {
  interface Server {
    /** Names by id; may change between requests. */
    readonly droplets: Map<number, string>;
    readonly honours: boolean;
    /** Droplets on a page (200). */
    readonly most?: number;
    readonly onRead?: (count: number) => void;
  }

  function lookupsOver(api: ScriptedApi): Finder {
    return createFinder(
      createLane({
        api,
        loginHints: workLoginHints,
        clock: instantClock(),
        maxPause: 900_000,
        onPause: async () => {},
      }),
    );
  }

  /** Lists as the service gives them, in pages of 200. */
  function serve({ droplets, honours, most = 200, onRead }: Server) {
    const list = ({ path }: ApiRequest, at: number): ApiResponse => {
      onRead?.(at);
      const query = new URL(path, 'https://api.example').searchParams;
      const name = honours ? query.get('name') : null;
      const page = Number(query.get('page'));
      const all = [...droplets].filter(([, one]) => name === null || one === name);
      const items = all.slice((page - 1) * most, page * most).map(([id, one]) => ({ id, name: one }));
      const links =
        page * most < all.length ? { pages: { next: `https://api.example/v2/droplets?page=${page + 1}` } } : {};
      return batchResponse(200, { droplets: items, links, meta: { total: all.length } });
    };
    const api = apiOf(() => batchResponse(500), list);
    const lookups = lookupsOver(api);
    const find = async (...names: string[]) => {
      const { conclusive, droplets: found } = await lookups.find(
        { names, has: (name) => names.includes(name) },
        new AbortController().signal,
      );
      return { conclusive, ids: names.map((name) => (found.get(name) ?? []).map(({ id }) => Number(id))) };
    };
    return { find, lookups, api };
  }

  it('the number of pages is counted as the server cuts them', async () => {
    const { find, api } = serve({ droplets: many(60), honours: true, most: 3 });
    await find('n-0', 'n-1');
    expect(api.read).toHaveLength(3);
    expect(await find('n-0', 'n-59')).toEqual({ conclusive: true, ids: [[1], [60]] });
    expect(api.read).toHaveLength(5);
  });

  it('a lookup that meets a droplet without an id is an error, for it may be any droplet', async () => {
    const droplets = new Map([[1.5, 'a']]);
    await expect(serve({ droplets, honours: true }).find('a')).rejects.toMatchObject({ code: 'api_error' });
  });

  describe('a lookup with a tag', () => {
    /** Droplets with even numbers have the tag, in other letters. */
    const serveTags = (count: number, isHonoured: boolean) => {
      const all = Array.from({ length: count }, (_, at) => ({
        id: at + 1,
        name: `n-${at}`,
        tags: at % 2 === 0 ? ['Batch-1'] : [],
      }));
      const api = apiOf(
        () => batchResponse(500),
        ({ path }) => {
          const query = new URL(path, 'https://api.example').searchParams;
          const [name, tag, page] = [query.get('name'), query.get('tag_name'), Number(query.get('page'))];
          const isWanted = (one: (typeof all)[number]): boolean =>
            (name === null || one.name === name) && (tag === null || !isHonoured || one.tags.length > 0);
          const found = all.filter(isWanted);
          const next = `/v2/droplets?${tag === null ? '' : `tag_name=${tag}&`}page=${page + 1}`;
          const links = page * 200 < found.length ? { pages: { next } } : {};
          const droplets = found.slice((page - 1) * 200, page * 200);
          return batchResponse(200, { droplets, links, meta: { total: found.length } });
        },
      );
      const lookups = lookupsOver(api);
      const find = async (names: readonly string[]) => {
        const query = { names, has: (name: string) => names.includes(name), tag: 'batch-1' };
        const { conclusive, droplets } = await lookups.find(query, new AbortController().signal);
        return { conclusive, ids: names.map((name) => (droplets.get(name) ?? []).map(({ id }) => Number(id))) };
      };
      return { find, read: () => api.read.map(({ path }) => path) };
    };
    const names = Array.from({ length: 100 }, (_, at) => `n-${at}`);
    const tagged = names.map((_, at) => (at % 2 === 0 ? [at + 1] : []));

    it('reads the pages of the tag, and compares it without case', async () => {
      const { find, read } = serveTags(1_000, true);
      expect(await find(names)).toEqual({ conclusive: true, ids: tagged });
      expect(read()).toHaveLength(3);
      expect(read().every((path) => path.includes('tag_name=batch-1'))).toBe(true);
    });

    it('reads all pages where the server ignores the tag, and does not try it again', async () => {
      const { find, read } = serveTags(1_000, false);
      expect(await find(names)).toEqual({ conclusive: true, ids: tagged });
      expect(read()).toHaveLength(1 + 5);
      expect(await find(names)).toEqual({ conclusive: true, ids: tagged });
      expect(read()).toHaveLength(1 + 5 + 5);
    });

    it('reads the names themselves where these are fewer than the pages of the tag', async () => {
      const { find, read } = serveTags(4_000, true);
      expect(await find(['n-0', 'n-1'])).toEqual({ conclusive: true, ids: [[1], []] });
      expect(read().filter((path) => path.includes('tag_name='))).toHaveLength(1);
      // The first page of the tag, the first page of all droplets, and the names.
      expect(read().length).toBeLessThanOrEqual(4);
    });
  });

  function many(count: number): Map<number, string> {
    return new Map(Array.from({ length: count }, (_, at) => [at + 1, `n-${at}`]));
  }

  describe('a lookup', () => {
    it('of one name asks for that name alone', async () => {
      const { find, api } = serve({ droplets: many(1_000), honours: true });
      expect(await find('n-500')).toEqual({ conclusive: true, ids: [[501]] });
      expect(api.read).toHaveLength(1);
    });

    it('of more names than there are pages reads the pages', async () => {
      const { find, api } = serve({ droplets: many(300), honours: true });
      expect(await find('n-0', 'n-299', 'x')).toEqual({ conclusive: true, ids: [[1], [300], []] });
      expect(api.read).toHaveLength(2);
    });

    it('of fewer names than there are pages reads each of them after the first page', async () => {
      const { find, api } = serve({ droplets: many(1_000), honours: true });
      expect(await find('a', 'n-9')).toEqual({ conclusive: true, ids: [[], [10]] });
      expect(api.read).toHaveLength(3);
      expect(await find('n-7', 'n-8')).toEqual({ conclusive: true, ids: [[8], [9]] });
      expect(api.read).toHaveLength(5);
    });

    it('reads on after the first page when names and further pages are equally many', async () => {
      const { find, api } = serve({ droplets: many(600), honours: true });
      expect(await find('n-0', 'n-599')).toEqual({ conclusive: true, ids: [[1], [600]] });
      expect(api.read).toHaveLength(3);
      expect(api.read.some(({ path }) => path.includes('name='))).toBe(false);
    });

    it('reads all pages when the server ignores the names, which shows only after the first page', async () => {
      const { find, api } = serve({ droplets: many(1_000), honours: false });
      expect(await find('n-0', 'n-999')).toEqual({ conclusive: true, ids: [[1], [1_000]] });
      expect(api.read.length).toBeLessThanOrEqual(1 + 2 + 5);
    });

    it('without meta.total reads all pages and proves nothing', async () => {
      const pages = [
        { droplets: [{ id: '1', name: 'a' }], links: { pages: { next: '/v2/droplets?page=2' } } },
        { droplets: [{ id: '2', name: 'b' }] },
      ];
      const api = apiOf(
        () => batchResponse(500),
        (_, at) => batchResponse(200, pages[at] ?? pages[1]),
      );
      const query = { names: ['a', 'b'], has: () => true };
      const found = await lookupsOver(api).find(query, new AbortController().signal);
      expect(found).toMatchObject({ conclusive: false, hasTotal: false });
    });

    it('reads all pages where the server does not honour the name, and does not ask so again', async () => {
      const { find, api } = serve({ droplets: many(300), honours: false });
      expect(await find('n-299')).toEqual({ conclusive: true, ids: [[300]] });
      expect(api.read.filter(({ path }) => path.includes('name='))).toHaveLength(1);
      expect(await find('n-298')).toEqual({ conclusive: true, ids: [[299]] });
      expect(api.read.filter(({ path }) => path.includes('name='))).toHaveLength(1);
    });

    it('of all pages is not conclusive when the list changed meanwhile', async () => {
      const droplets = many(300);
      const { find } = serve({ droplets, honours: false, onRead: (at) => at > 0 && droplets.set(1_000 + at, 'late') });
      expect((await find('n-0')).conclusive).toBe(false);
    });

    it('is not conclusive when a droplet came twice and another not at all', async () => {
      const droplets = many(400);
      const { find } = serve({
        droplets,
        honours: false,
        onRead: (at) => {
          if (at !== 2) return;
          // One comes at the front and the last one goes: the total stays, and the pages have moved.
          const moved = [[9_999, 'late'] as const, ...[...droplets].slice(0, -1)];
          droplets.clear();
          for (const [id, name] of moved) droplets.set(id, name);
        },
      });
      expect((await find('n-0')).conclusive).toBe(false);
    });

    it('turns to the names themselves when the list does not hold still', async () => {
      const droplets = many(300);
      const { find } = serve({ droplets, honours: true, onRead: (at) => void droplets.set(1_000 + at, 'late') });
      expect(await find('n-0', 'n-1')).toEqual({ conclusive: true, ids: [[1], [2]] });
    });

    it('of far more names than pages reads the pages again when the list changed once', async () => {
      const droplets = many(300);
      const { find, api } = serve({
        droplets,
        honours: true,
        onRead: (at) => at === 0 && void droplets.set(999, 'late'),
      });
      const changed = serve({ droplets, honours: true, onRead: (at) => at === 1 && void droplets.set(1_001, 'later') });
      const names = [...droplets.values()];
      expect((await find(...names)).conclusive).toBe(true);
      expect(api.read).toHaveLength(2);
      expect((await changed.find(...names)).conclusive).toBe(true);
      expect(changed.api.read).toHaveLength(4);
    });

    it('accepts a server that compares names without case, and keeps only the exact ones', async () => {
      const droplets = [
        { id: '1', name: 'Web' },
        { id: '2', name: 'web' },
      ];
      const api = apiOf(
        () => batchResponse(500),
        () => batchResponse(200, { droplets, meta: { total: 2 } }),
      );
      const lookups = lookupsOver(api);
      for (let reads = 1; reads <= 2; reads++) {
        const found = await lookups.find({ names: ['web'], has: () => true }, new AbortController().signal);
        expect(found.conclusive).toBe(true);
        expect(found.droplets.get('web')?.map(({ id }) => id)).toEqual(['2']);
        expect(api.read).toHaveLength(reads);
      }
    });

    it('sees every droplet of a name', async () => {
      const droplets = new Map([
        [1, 'a'],
        [2, 'b'],
        [3, 'a'],
      ]);
      expect(await serve({ droplets, honours: true }).find('a')).toEqual({ conclusive: true, ids: [[1, 3]] });
    });

    it('that others ask for meanwhile is one scan for all of them, begun after they asked', async () => {
      const { find, api } = serve({ droplets: many(300), honours: false });
      await find('n-0');
      const before = api.read.length;
      const found = await Promise.all([find('n-1', 'x'), find('n-2', 'y'), find('n-3', 'z')]);
      expect(found.map(({ ids }) => ids[0])).toEqual([[2], [3], [4]]);
      expect(api.read.length - before).toBeLessThanOrEqual(4);
    });

    it('waits out a 429, and fails on an answer that is no list', async () => {
      const page = batchResponse(200, { droplets: [{ id: '1', name: 'a' }], meta: { total: 1 } });
      const answers = [
        batchResponse(429, {}, { retryAfter: 1 }),
        page,
        batchResponse(200, { droplets: [{ id: 'x' }] }),
      ];
      const api = apiOf(
        () => batchResponse(500),
        (_, at) => answers[at] ?? batchResponse(500),
      );
      const lookups = lookupsOver(api);
      const a = { names: ['a'], has: (name: string) => name === 'a' };
      const { signal } = new AbortController();
      expect((await lookups.find(a, signal)).conclusive).toBe(true);
      await expect(lookups.find(a, signal)).rejects.toMatchObject({ code: 'api_error' });
    });

    it.each([
      ['a scope that is too small', batchResponse(403, { id: 'forbidden' }), { code: 'scope_too_small', exitCode: 4 }],
      [
        'a server in trouble',
        batchResponse(500, { message: 'oops' }),
        { message: expect.stringContaining('500'), detail: 'oops' },
      ],
    ])('says what the server said: %s', async (_what, refusal, error) => {
      const api = apiOf(
        () => batchResponse(500),
        () => refusal,
      );
      const lookups = lookupsOver(api);
      const asked = { names: ['a'], has: () => true };
      await expect(lookups.find(asked, new AbortController().signal)).rejects.toMatchObject(error);
    });
  });

  it.each([
    [1, true],
    [2, true],
    [3, false],
  ])('a page that is broken %i times is requested again, at most twice', async (broken, isRead) => {
    const list = batchResponse(200, { droplets: [{ id: '1', name: 'a' }], meta: { total: 1 } });
    const api = apiOf(
      () => batchResponse(500),
      (_request, at) => (at < broken ? batchResponse(200, '{"droplets":[{"id":1') : list),
    );
    const found = lookupsOver(api).find({ names: ['a'], has: () => true }, new AbortController().signal);
    if (!isRead) await expect(found).rejects.toMatchObject({ code: 'api_error' });
    else expect((await found).droplets.get('a')).toMatchObject([{ id: '1' }]);
    expect(api.read).toHaveLength(isRead ? broken + 1 : 3);
  });

  it('a list whose pages never end is an error of the lookup', async () => {
    const api = apiOf(
      () => batchResponse(500),
      ({ path }) => {
        const page = Number(new URL(path, 'https://api.example').searchParams.get('page'));
        const links = { pages: { next: `/v2/droplets?page=${page + 1}` } };
        return batchResponse(200, {
          droplets: [{ id: String(page), name: `n-${page}` }],
          links,
          meta: { total: 1e15 },
        });
      },
    );
    const found = lookupsOver(api).find({ names: ['a'], has: () => true }, new AbortController().signal);
    await expect(found).rejects.toMatchObject({ code: 'incomplete_list' });
    expect(api.read).toHaveLength(10_001);
  });
});

describe('shared droplet scan', () => {
  /** Three pages of one droplet each. */
  function scanOf(tags: readonly string[], tag: string | undefined) {
    const api = apiOf(
      () => batchResponse(500),
      ({ path }) => {
        const page = Number(new URL(path, 'https://api.example').searchParams.get('page'));
        const links = page < 3 ? { pages: { next: `/v2/droplets?page=${page + 1}` } } : {};
        return batchResponse(200, { droplets: [{ id: page, name: `n-${page}`, tags }], links, meta: { total: 3 } });
      },
    );
    const onPause = async (): Promise<void> => {};
    const lane = createLane({
      api,
      loginHints: workLoginHints,
      clock: instantClock(),
      maxPause: 900_000,
      onPause,
    });
    return { scan: createScan(lane, tag), api };
  }

  const query = (isWorthwhile: (left: number, count: number) => boolean) => ({
    names: ['n-3', 'x'],
    has: (name: string) => name === 'n-3',
    isWorthwhile,
  });
  const { signal } = new AbortController();

  it('a scan asks after the first page whether the others are worth their requests', async () => {
    const { scan, api } = scanOf([], undefined);
    const reported: number[][] = [];
    const outcome = await scan.find(
      query((left, count) => {
        reported.push([left, count]);
        return false;
      }),
      signal,
    );
    expect([outcome, reported, scan.pages(), api.read.length]).toEqual(['stopped', [[2, 2]], 3, 1]);
    expect(
      await scan.find(
        query(() => true),
        signal,
      ),
    ).toMatchObject({ conclusive: true, hasTotal: true });
  });

  it('a scan ends at a droplet without the tag', async () => {
    expect(
      await scanOf(['b'], 'a').scan.find(
        query(() => true),
        signal,
      ),
    ).toBe('unfiltered');
    expect(
      await scanOf(['A'], 'a').scan.find(
        query(() => true),
        signal,
      ),
    ).toMatchObject({ conclusive: true });
  });
});
