import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ApiClient } from '../../src/api/client.ts';
import { createGlobMatcher, type ListOptions, nextPagePath, paginate, readListTotal } from '../../src/api/list.ts';
import { CliError } from '../../src/base/errors.ts';
import { apiAnswering as apiBy, apiServing, idsOf as ids, listThings, type Thing } from './changing-list.ts';

const origin = 'https://api.example';
const apiAnswering = (pages: Readonly<Record<string, unknown>>) => apiBy((path) => pages[path]);

function page(ids: readonly number[], total: number | undefined, next?: string) {
  return {
    things: ids.map((id) => ({ id })),
    links: next === undefined ? {} : { pages: { next, last: next } },
    meta: total === undefined ? {} : { total },
  };
}

/** A page of the numbers from one on, with another page's content, or taken for the last one. */
function numbered(
  path: string,
  total: number,
  fault: (at: number, size: number) => { content: number; isLast: boolean },
) {
  const { searchParams } = new URL(path, origin);
  const [at, size] = [Number(searchParams.get('page')), Number(searchParams.get('per_page'))];
  const { content, isLast } = fault(at, size);
  const all = Array.from({ length: total }, (_, place) => place + 1);
  const next = isLast ? undefined : `/v2/things?page=${at + 1}&per_page=${size}`;
  return page(all.slice((content - 1) * size, content * size), total, next);
}

const first = '/v2/things?page=1&per_page=2';
const second = '/v2/things?page=2&per_page=2';
const third = '/v2/things?page=3&per_page=2';

describe('a list', () => {
  it('is read to its last page', async () => {
    const api = apiAnswering({
      [first]: page([1, 2], 5, `${origin}${second}`),
      [second]: page([3, 4], 5, `${origin}${third}`),
      [third]: page([5], 5),
    });
    expect(await ids(listThings(api))).toEqual([1, 2, 3, 4, 5]);
    expect(api.requestedPaths).toEqual([first, second, third]);
  });

  it('keeps the other parameters of its path', async () => {
    const api = apiAnswering({ '/v2/things?tag_name=a+b&page=1&per_page=2': page([], 0) });
    expect(await ids(listThings(api, { pageSize: 2 }, '/v2/things?tag_name=a+b'))).toEqual([]);
  });

  it('asks for the next page before this one is used', async () => {
    const api = apiAnswering({ [first]: page([1, 2], 3, second), [second]: page([3], 3) });
    const items = listThings(api);
    await items.next();
    expect(api.requestedPaths).toEqual([first, second]);
  });

  it('is not asked for more while it is not sure that more is wanted', async () => {
    const broken = { ...page([1], 3, second), things: [{ id: 'x' }] };
    const api = apiAnswering({ [first]: broken, [second]: page([3], 3) });
    await expect(ids(listThings(api, { pageSize: 2, limit: 2 }))).rejects.toMatchObject({ code: 'api_error' });
    expect(api.requestedPaths).toEqual([first]);
  });

  it('gives an item that moved to a later page once', async () => {
    const api = apiAnswering({ [first]: page([1, 2], 3, second), [second]: page([2, 3], 4) });
    expect(await ids(listThings(api))).toEqual([1, 2, 3]);
  });

  it('that holds fewer items than it says, whenever it is read, is an error, never silence', async () => {
    const api = apiBy((path) =>
      path === first ? page([1, 2], 4, second) : page(path === second ? [3] : [1, 2, 3], 4),
    );
    await expect(ids(listThings(api))).rejects.toMatchObject({
      code: 'incomplete_list',
      exitCode: 1,
      message: expect.stringMatching(/\b3 of 4\b/),
    });
    expect(api.requestedPaths).toHaveLength(3);
  });

  it('whose doubled items make up the count is an error as well', async () => {
    const api = apiBy((path) => (path === first ? page([1, 2], 4, second) : page([2, 1], 4)));
    await expect(ids(listThings(api))).rejects.toMatchObject({ code: 'incomplete_list' });
  });

  it.each([[1], [2]])('whose page %i leads to no other, though its total says so, is an error', async (last) => {
    const cutOff = apiBy((path) => numbered(path, 450, (at) => ({ content: at, isLast: at === last })));
    await expect(ids(listThings(cutOff, {}))).rejects.toMatchObject({
      code: 'incomplete_list',
      message: expect.stringContaining(`${last * 200} of 450`),
      detail: expect.stringContaining('meta.total'),
    });
    expect(cutOff.requestedPaths).toHaveLength(2 * last);
  });

  it('that is cut off and grows all the time has no end either', async () => {
    let total = 450;
    const growing = apiBy((path) => numbered(path, total++, (at) => ({ content: at, isLast: at === 2 })));
    await expect(ids(listThings(growing, {}))).rejects.toMatchObject({ code: 'incomplete_list' });
  });

  it('whose last page is the one before it once more is an error', async () => {
    const late = apiBy((path) =>
      numbered(path, 400, (at, size) => ({ content: Math.max(1, at - 1), isLast: at * size >= 400 })),
    );
    await expect(ids(listThings(late, {}))).rejects.toMatchObject({ code: 'incomplete_list' });
  });

  it('that grew while it was read is complete', async () => {
    const api = apiAnswering({ [first]: page([1, 2], 2, second), [second]: page([3], 3) });
    expect(await ids(listThings(api))).toEqual([1, 2, 3]);
  });

  it('without a total is taken as it comes', async () => {
    expect(await ids(listThings(apiAnswering({ [first]: page([1], undefined) })))).toEqual([1]);
  });

  it.each([
    ['to itself', { [first]: page([1, 2], 9, first) }],
    ['in a circle', { [first]: page([1, 2], 9, second), [second]: page([3, 4], 9, first) }],
  ])('whose next links lead %s ends with an error', async (_where, pages) => {
    await expect(ids(listThings(apiAnswering(pages)))).rejects.toMatchObject({
      code: 'incomplete_list',
      detail: expect.stringContaining('twice'),
    });
  });

  it.each([
    ['no list', { meta: {} }],
    ['a list under another key', { droplets: [] }],
    ['no object', []],
    ['nothing', null],
  ])('whose answer is %s is an error that names the list', async (_what, body) => {
    await expect(ids(listThings(apiAnswering({ [first]: body })))).rejects.toMatchObject({
      code: 'api_error',
      message: expect.stringContaining('"things"'),
    });
  });

  it('with an item that is not understood is an error that shows it', async () => {
    const api = apiAnswering({ [first]: { things: [{ id: 1 }, { id: 'x', more: 1 }] } });
    await expect(ids(listThings(api))).rejects.toMatchObject({
      code: 'api_error',
      message: expect.stringContaining('"things"'),
      detail: expect.stringContaining('{"id":"x","more":1}'),
      hint: expect.stringContaining('`cloudctl api GET /v2/things --paginate`'),
    });
  });

  it('that is left early does not end the program by the page asked for ahead', async () => {
    const api = apiAnswering({ [first]: page([1, 2], 3, second), [second]: new CliError('unreachable', 'gone') });
    const items = listThings(api);
    await items.next();
    await items.return(undefined);
    await new Promise((resolve) => setTimeout(resolve, 5));
  });

  it('whose later page fails, fails', async () => {
    const api = apiAnswering({ [first]: page([1, 2], 3, second), [second]: new CliError('unreachable', 'gone') });
    await expect(ids(listThings(api))).rejects.toMatchObject({ code: 'unreachable' });
  });
});

function shelfOf(count: number) {
  const things: Thing[] = Array.from({ length: count }, (_, at) => ({ id: at + 1 }));
  return { things, order: 'oldest first' as const, onNextPage: () => undefined, now: () => 0 };
}

const odd = ({ id }: Thing): boolean => id % 2 === 1;

describe('a limit', () => {
  it.each<[ListOptions<Thing>, number, readonly string[]]>([
    [{ limit: 1 }, 1, ['1:1']],
    [{ limit: 200 }, 200, ['1:200']],
    [{ limit: 250 }, 250, ['1:125', '2:125']],
    [{ limit: 401 }, 401, ['1:134', '2:134', '3:134']],
    [{ limit: 5, pageSize: 2 }, 5, ['1:2', '2:2', '3:2']],
    [{ limit: 100, matches: odd }, 100, ['1:200']],
    [{ limit: 101, matches: odd }, 101, ['1:200', '2:200']],
    [{ limit: 5_000 }, 1_000, ['1:200', '2:200', '3:200', '4:200', '5:200']],
  ])('of %j is met by as few and as small requests as can be', async (options, count, asked) => {
    const api = apiServing(shelfOf(1_000));
    expect(await ids(listThings(api, options))).toHaveLength(count);
    const pages = api.requestedPaths.map((path) => new URL(path, origin).searchParams);
    expect(pages.map((query) => `${query.get('page')}:${query.get('per_page')}`)).toEqual(asked);
  });

  it('that is met asks for nothing more, though the list changed', async () => {
    const shelf = shelfOf(1_000);
    const api = apiServing({ ...shelf, onNextPage: () => void shelf.things.shift() });
    expect(await ids(listThings(api, { limit: 4, pageSize: 2 }))).toHaveLength(4);
    expect(api.requestedPaths).toHaveLength(2);
  });
});

describe('a page', () => {
  it('is asked for one ahead of the reader, and no more', async () => {
    const api = apiServing(shelfOf(100));
    const items = listThings(api, { pageSize: 10 });
    await items.next();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(api.requestedPaths).toHaveLength(2);
    await items.return(undefined);
  });

  it('is told of while another follows', async () => {
    const told: unknown[] = [];
    const options: ListOptions<Thing> = { pageSize: 2, onProgress: (read, total) => told.push([read, total]) };
    await ids(listThings(apiServing(shelfOf(5)), options));
    expect(told).toEqual([
      [2, 5],
      [4, 5],
    ]);
  });

  it('gives only the items that are wanted', async () => {
    const pages: (readonly Thing[])[] = [];
    for await (const page of listThings(apiServing(shelfOf(5)), { matches: odd })) pages.push(page);
    expect(pages).toEqual([[{ id: 1 }, { id: 3 }, { id: 5 }]]);
  });
});

it.each([
  [{ total: 3 }, 3],
  [{ total: '450' }, 450],
  [{ total: 'many' }, undefined],
  [{ total: '' }, undefined],
  [{}, undefined],
  [null, undefined],
])('the total of %j is %j', (meta, total) => {
  expect(readListTotal({ meta })).toBe(total);
});

describe('pages that never end', () => {
  const endless = (total: (at: number) => number | undefined, size = 1) =>
    apiBy((path) => {
      const at = Number(new URL(path, origin).searchParams.get('page'));
      const things = Array.from({ length: size }, (_, place) => at * size + place);
      return page(things, total(at), `/v2/things?page=${at + 1}&per_page=2`);
    });

  it.each([
    ['without a total', () => undefined, 10_000],
    ['with a total that grows', (at: number) => at + 1, 10_000],
    ['with a total that no list has', () => 1e15, 10_000],
    ['with a total that they soon exceed', () => 2, 1_100],
  ])('%s are an error', async (_what, total, most) => {
    const api = endless(total);
    await expect(ids(listThings(api))).rejects.toMatchObject({ code: 'incomplete_list', exitCode: 1 });
    expect(api.requestedPaths.length).toBeLessThanOrEqual(most);
    const paged = pagedApi((at) => ({ things: [at], links: nextLink(true, at), meta: { total: total(at) } }));
    await expect(read(paged)).rejects.toMatchObject({ code: 'incomplete_list' });
    expect(paged.asked.length).toBeLessThanOrEqual(most);
  });

  it('are told apart from a long list that others change', async () => {
    const left = (at: number) => Math.max(0, 40_000 - at * 400);
    const api = pagedApi((at) => ({
      things: Array.from({ length: 200 }, (_, place) => at * 200 + place),
      links: nextLink(at < 100, at),
      meta: { total: left(at) },
    }));
    expect(await read(api)).toHaveLength(20_000);
  });
});

describe('the link to the next page', () => {
  it.each([
    [{ pages: { next: `${origin}/v2/things?page=2` } }, '/v2/things?page=2'],
    [{ pages: { next: '/v2/things?page=2' } }, '/v2/things?page=2'],
    [{ pages: { next: '?page=2' } }, '/v2/things?page=2'],
    [{ pages: { next: 'things?page=2' } }, '/v2/things?page=2'],
    [{ pages: { next: '' } }, undefined],
    [{ pages: { next: null } }, undefined],
    [{ pages: { next: false } }, undefined],
    [{ pages: { last: `${origin}/x` } }, undefined],
    [{ pages: [] }, undefined],
    [{}, undefined],
    [null, undefined],
    ['text', undefined],
  ])('of %j is %j', (links, path) => {
    expect(nextPagePath(origin, links, '/v2/things?page=1')).toBe(path);
  });

  it.each([
    'https://evil.example/v2/things?page=2',
    'http://api.example/v2/things?page=2',
    'https://api.example:8443/v2/things?page=2',
    '//evil.example/v2',
    'https://api.example.evil.example/',
    'data:text/plain,x',
  ])('%s leaves the base origin and is not followed', (next) => {
    expect(() => nextPagePath(origin, { pages: { next } }, '/v2/things?page=1')).toThrow(
      expect.objectContaining({ code: 'api_error' }),
    );
  });

  it.each([
    ['http://', '"http://"'],
    [2, 'not a string, but 2'],
    [{ href: '/v2/things?page=2' }, 'not a string, but {"href":"/v2/things?page=2"}'],
    [true, 'not a string, but true'],
  ])('%j is not understood, which is no end of the list', (next, told) => {
    const read = () => nextPagePath(origin, { pages: { next } }, '/v2/things?page=1');
    expect(read).toThrow(
      expect.objectContaining({ message: expect.stringContaining('not a URL'), detail: `links.pages.next is ${told}` }),
    );
  });
});

describe('the items of a list that is known by its links alone', () => {
  it('are those of all pages', async () => {
    const api = pagedApi((page) => ({ things: [page, page], links: nextLink(page < 3, page), meta: { total: 6 } }));
    expect(await read(api)).toEqual([1, 1, 2, 2, 3, 3]);
  });

  it('are as they come where no total is told, or only some of the list was asked for', async () => {
    const api = pagedApi((page) => ({
      things: [page],
      links: nextLink(page < 3, page),
      meta: page < 5 ? {} : { total: 9 },
    }));
    expect(await read(api)).toEqual([1, 2, 3]);
    expect(await read(api, '/v2/things?page=7')).toEqual([7]);
  });

  it('are fewer than the first page, not the last one, of a list that others make shorter', async () => {
    const api = pagedApi((page) => ({ things: [page], links: nextLink(page < 3, page), meta: { total: 6 - page } }));
    expect(await read(api)).toEqual([1, 2, 3]);
  });

  it.each([
    ['a number', 450],
    ['a number in quotes', '450'],
  ])('that are fewer than the total, %s, are an error, never silence', async (_what, total) => {
    const api = pagedApi((page) => ({ things: [page], links: nextLink(page < 3, page), meta: { total } }));
    expect(await failureOf(read(api))).toMatchObject({
      code: 'incomplete_list',
      message: expect.stringMatching(/\b3 of 450\b/),
    });
  });

  it.each([
    ['are empty', (): readonly unknown[] => []],
    ['are all the same', () => [{ id: 12345678901234567890n.toString() }]],
  ])('end with an error where the pages %s and never end', async (_how, things) => {
    const api = pagedApi((page) => ({ things: things(), links: nextLink(page < 100, page) }));
    expect(await failureOf(read(api))).toMatchObject({
      code: 'incomplete_list',
      detail: expect.stringMatching(/^10 /),
    });
    expect(api.asked.length).toBeLessThan(13);
  });

  it('are none where the first answer is no list, and an error where a later one is', async () => {
    expect(await read(pagedApi(() => ({ thing: {} })))).toBeUndefined();
    const api = pagedApi((page) => (page === 1 ? { things: [1], links: nextLink(true, page) } : undefined));
    expect(await failureOf(read(api))).toMatchObject({ code: 'api_error', exitCode: 1 });
  });
});

interface AskedApi extends ApiClient {
  readonly asked: string[];
}

function pagedApi(answer: (page: number) => unknown): AskedApi {
  const asked: string[] = [];
  return {
    baseOrigin: origin,
    asked,
    json: async ({ path }) => {
      asked.push(path);
      return answer(Number(new URL(path, origin).searchParams.get('page') ?? 1));
    },
    success: () => Promise.reject(new Error('not used')),
    request: () => Promise.reject(new Error('not used')),
  };
}

function nextLink(isThere: boolean, page: number) {
  return isThere ? { pages: { next: `${origin}/v2/things?page=${page + 1}` } } : {};
}

function read(api: ApiClient, path = '/v2/things') {
  return paginate(api, path, async () => undefined);
}

async function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => expect.fail('it did not fail'),
    (error) => error,
  );
}

describe('a pattern of names', () => {
  describe('a pattern for names', () => {
    it.each([
      ['web-*', 'web-01', true],
      ['web-*', 'web-', true],
      ['web-*', 'xweb-01', false],
      ['*', '', true],
      ['web-?', 'web-1', true],
      ['web-?', 'web-10', false],
      ['web-[0-9]', 'web-7', true],
      ['web-[0-9]', 'web-a', false],
      ['web-[!0-9]', 'web-a', true],
      ['web-[!0-9]', 'web-7', false],
      ['web-[^7]', 'web-7', true],
      ['a.b', 'a.b', true],
      ['a.b', 'axb', false],
      ['a(b', 'a(b', true],
      ['a|b', 'a', false],
      ['a/b', 'a/b', true],
      ['a\\b', 'a\\b', true],
      ['[', '[', true],
      ['a]', 'a]', true],
      ['Web-*', 'web-1', false],
      ['a*', 'a\nb', true],
    ])('%j on %j: %j', (pattern, name, matches) => {
      expect(createGlobMatcher(pattern)(name)).toBe(matches);
    });

    it('without special characters matches itself alone', () => {
      fc.assert(
        fc.property(fc.string(), fc.string(), (text, other) => {
          fc.pre(!/[*?[]/.test(text));
          expect(createGlobMatcher(text)(text)).toBe(true);
          expect(createGlobMatcher(text)(other)).toBe(text === other);
        }),
      );
    });

    it('with a range that runs backwards is no pattern', () => {
      expect(() => createGlobMatcher('[z-a]')).toThrow(SyntaxError);
    });
  });
});
