import { describe, expect, it } from 'vitest';
import type { Api, ApiRequest } from '../../src/api/client.ts';
import { listAll, nextPath } from '../../src/api/pages.ts';
import { CliError } from '../../src/errors.ts';

const origin = 'https://api.example';

/** An API whose pages are given by path; it counts what it was asked. */
function apiOf(pages: Readonly<Record<string, unknown>>): Api & { readonly asked: string[] } {
  const asked: string[] = [];
  const json = async ({ path }: ApiRequest): Promise<unknown> => {
    asked.push(path);
    const page = pages[path];
    if (page instanceof Error) throw page;
    if (page === undefined) throw new CliError('not_found', `no page ${path}`);
    return page;
  };
  return {
    baseOrigin: origin,
    asked,
    json,
    request: () => Promise.reject(new Error('not used')),
  };
}

function page(ids: readonly number[], total: number | undefined, next?: string) {
  return {
    things: ids.map((id) => ({ id })),
    links: next === undefined ? {} : { pages: { next, last: next } },
    meta: total === undefined ? {} : { total },
  };
}

function listing(api: Api, path = '/v2/things', pageSize = 2) {
  const decode = (item: unknown) =>
    typeof item === 'object' && item !== null && 'id' in item && typeof item.id === 'number'
      ? { id: item.id }
      : undefined;
  return listAll(api, { path, key: 'things', decode, idOf: ({ id }) => id, pageSize });
}

async function ids(items: AsyncIterable<{ readonly id: number }>): Promise<readonly number[]> {
  const all: number[] = [];
  for await (const { id } of items) all.push(id);
  return all;
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
    expect(await ids(listing(api))).toEqual([1, 2, 3, 4, 5]);
    expect(api.asked).toEqual([first, second, third]);
  });

  it('keeps the other parameters of its path', async () => {
    const api = apiOf({ '/v2/things?tag_name=a+b&page=1&per_page=2': page([], 0) });
    expect(await ids(listing(api, '/v2/things?tag_name=a+b'))).toEqual([]);
  });

  it('asks for the next page before this one is used', async () => {
    const api = apiOf({ [first]: page([1, 2], 3, second), [second]: page([3], 3) });
    const items = listing(api);
    await items.next();
    expect(api.asked).toEqual([first, second]);
  });

  it('gives an item that moved to a later page once', async () => {
    const api = apiOf({ [first]: page([1, 2], 3, second), [second]: page([2, 3], 3) });
    expect(await ids(listing(api))).toEqual([1, 2, 3]);
  });

  it('that holds fewer items than it says is an error, never silence', async () => {
    const api = apiOf({ [first]: page([1, 2], 4, second), [second]: page([3], 4) });
    await expect(ids(listing(api))).rejects.toMatchObject({
      code: 'incomplete_list',
      exitCode: 1,
      message: 'could not read all of /v2/things: 3 of 4 items',
    });
  });

  it('whose doubled items make up the count is an error as well', async () => {
    const api = apiOf({ [first]: page([1, 2], 4, second), [second]: page([2, 1], 4) });
    await expect(ids(listing(api))).rejects.toMatchObject({ code: 'incomplete_list' });
  });

  it('that grew while it was read is complete', async () => {
    const api = apiOf({ [first]: page([1, 2], 2, second), [second]: page([3], 3) });
    expect(await ids(listing(api))).toEqual([1, 2, 3]);
  });

  it('without a total is taken as it comes', async () => {
    expect(await ids(listing(apiOf({ [first]: page([1], undefined) })))).toEqual([1]);
  });

  it.each([
    ['to itself', { [first]: page([1, 2], 9, first) }],
    ['in a circle', { [first]: page([1, 2], 9, second), [second]: page([3, 4], 9, first) }],
  ])('whose next links lead %s ends with an error', async (_where, pages) => {
    await expect(ids(listing(apiOf(pages)))).rejects.toMatchObject({
      code: 'incomplete_list',
      detail: expect.stringContaining('came twice'),
    });
  });

  it.each([
    ['no list', { meta: {} }],
    ['a list under another key', { droplets: [] }],
    ['no object', []],
    ['nothing', null],
  ])('whose answer is %s is an error that names the list', async (_what, body) => {
    await expect(ids(listing(apiOf({ [first]: body })))).rejects.toMatchObject({
      code: 'api_error',
      message: 'could not read /v2/things: the answer has no list "things"',
    });
  });

  it('with an item that is not understood is an error', async () => {
    const api = apiOf({ [first]: { things: [{ id: 1 }, { id: 'x' }] } });
    await expect(ids(listing(api))).rejects.toMatchObject({ code: 'api_error' });
  });

  it('that is left early does not end the program by the page asked for ahead', async () => {
    const api = apiOf({ [first]: page([1, 2], 3, second), [second]: new CliError('unreachable', 'gone') });
    const items = listing(api);
    await items.next();
    await items.return(undefined);
    await new Promise((resolve) => setTimeout(resolve, 5));
  });

  it('whose later page fails, fails', async () => {
    const api = apiOf({ [first]: page([1, 2], 3, second), [second]: new CliError('unreachable', 'gone') });
    await expect(ids(listing(api))).rejects.toMatchObject({ code: 'unreachable' });
  });
});

describe('the link to the next page', () => {
  it.each([
    [{ pages: { next: `${origin}/v2/things?page=2` } }, '/v2/things?page=2'],
    [{ pages: { next: '/v2/things?page=2' } }, '/v2/things?page=2'],
    [{ pages: { next: '?page=2' } }, '/?page=2'],
    [{ pages: { next: '' } }, undefined],
    [{ pages: { last: `${origin}/x` } }, undefined],
    [{ pages: [] }, undefined],
    [{}, undefined],
    [null, undefined],
    ['text', undefined],
  ])('of %j is %j', (links, path) => {
    expect(nextPath(origin, links)).toBe(path);
  });

  it.each([
    'https://evil.example/v2/things?page=2',
    'http://api.example/v2/things?page=2',
    'https://api.example:8443/v2/things?page=2',
    '//evil.example/v2',
    'https://api.example.evil.example/',
    'data:text/plain,x',
    'http://',
  ])('%s leaves the base origin and is not followed', (next) => {
    expect(() => nextPath(origin, { pages: { next } })).toThrow(/leaves the base origin/);
  });
});
