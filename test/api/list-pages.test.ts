import { describe, expect, it } from 'vitest';
import type { ListReadOptions } from '../../src/api/list-pages.ts';
import { CliError } from '../../src/base/errors.ts';
import { apiOf as apiBy, apiServing, idsOf as ids, listThings, type Thing } from './changing-list.ts';

const origin = 'https://api.example';
const apiOf = (pages: Readonly<Record<string, unknown>>) => apiBy((path) => pages[path]);

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
    const api = apiOf({
      [first]: page([1, 2], 5, `${origin}${second}`),
      [second]: page([3, 4], 5, `${origin}${third}`),
      [third]: page([5], 5),
    });
    expect(await ids(listThings(api))).toEqual([1, 2, 3, 4, 5]);
    expect(api.requestedPaths).toEqual([first, second, third]);
  });

  it('keeps the other parameters of its path', async () => {
    const api = apiOf({ '/v2/things?tag_name=a+b&page=1&per_page=2': page([], 0) });
    expect(await ids(listThings(api, { pageSize: 2 }, '/v2/things?tag_name=a+b'))).toEqual([]);
  });

  it('asks for the next page before this one is used', async () => {
    const api = apiOf({ [first]: page([1, 2], 3, second), [second]: page([3], 3) });
    const items = listThings(api);
    await items.next();
    expect(api.requestedPaths).toEqual([first, second]);
  });

  it('asks for the next page even before this one is understood', async () => {
    // Its links are the last that stands in it.
    const { links } = page([], 3, second);
    const api = apiOf({ [first]: { things: [{ id: 'x' }], links }, [second]: page([3], 3) });
    await expect(ids(listThings(api))).rejects.toMatchObject({ code: 'api_error' });
    expect(api.requestedPaths).toEqual([first, second]);
  });

  it('is not asked for more while it is not sure that more is wanted', async () => {
    const broken = { ...page([1], 3, second), things: [{ id: 'x' }] };
    const api = apiOf({ [first]: broken, [second]: page([3], 3) });
    await expect(ids(listThings(api, { pageSize: 2, limit: 2 }))).rejects.toMatchObject({ code: 'api_error' });
    expect(api.requestedPaths).toEqual([first]);
  });

  it('gives an item that moved to a later page once', async () => {
    const api = apiOf({ [first]: page([1, 2], 3, second), [second]: page([2, 3], 4) });
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
    const api = apiOf({ [first]: page([1, 2], 2, second), [second]: page([3], 3) });
    expect(await ids(listThings(api))).toEqual([1, 2, 3]);
  });

  it('without a total is taken as it comes', async () => {
    expect(await ids(listThings(apiOf({ [first]: page([1], undefined) })))).toEqual([1]);
  });

  it.each([
    ['to itself', { [first]: page([1, 2], 9, first) }],
    ['in a circle', { [first]: page([1, 2], 9, second), [second]: page([3, 4], 9, first) }],
  ])('whose next links lead %s ends with an error', async (_where, pages) => {
    await expect(ids(listThings(apiOf(pages)))).rejects.toMatchObject({
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
    await expect(ids(listThings(apiOf({ [first]: body })))).rejects.toMatchObject({
      code: 'api_error',
      message: expect.stringContaining('"things"'),
    });
  });

  it('with an item that is not understood is an error that shows it', async () => {
    const api = apiOf({ [first]: { things: [{ id: 1 }, { id: 'x', more: 1 }] } });
    await expect(ids(listThings(api))).rejects.toMatchObject({
      code: 'api_error',
      message: expect.stringContaining('"things"'),
      detail: expect.stringContaining('{"id":"x"}'),
      hint: expect.stringContaining('`cloudctl api GET /v2/things --paginate`'),
    });
  });

  it('that is left early does not end the program by the page asked for ahead', async () => {
    const api = apiOf({ [first]: page([1, 2], 3, second), [second]: new CliError('unreachable', 'gone') });
    const items = listThings(api);
    await items.next();
    await items.return(undefined);
    await new Promise((resolve) => setTimeout(resolve, 5));
  });

  it('whose later page fails, fails', async () => {
    const api = apiOf({ [first]: page([1, 2], 3, second), [second]: new CliError('unreachable', 'gone') });
    await expect(ids(listThings(api))).rejects.toMatchObject({ code: 'unreachable' });
  });
});

function shelfOf(count: number) {
  const things: Thing[] = Array.from({ length: count }, (_, at) => ({ id: at + 1 }));
  return { things, order: 'oldest first' as const, onNextPage: () => undefined, now: () => 0 };
}

const odd = ({ id }: Thing): boolean => id % 2 === 1;

describe('a limit', () => {
  it.each<[ListReadOptions<Thing>, number, readonly string[]]>([
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
    const options: ListReadOptions<Thing> = { pageSize: 2, onProgress: (read, total) => told.push([read, total]) };
    await ids(listThings(apiServing(shelfOf(5)), options));
    expect(told).toEqual([
      [2, 5],
      [4, 5],
    ]);
  });

  it('gives its items as the texts they came as, and only those that are wanted', async () => {
    const [portion] = await all(listThings(apiServing(shelfOf(5)), { matches: odd }));
    expect(Buffer.from(portion?.lines() ?? []).toString()).toBe('{"id":1}\n{"id":3}\n{"id":5}\n');
    expect(portion?.items()).toEqual([{ id: 1 }, { id: 3 }, { id: 5 }]);
  });
});

async function all<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}
