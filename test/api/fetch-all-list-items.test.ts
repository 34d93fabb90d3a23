import { describe, expect, it } from 'vitest';
import type { ApiClient } from '../../src/api/client.ts';
import { fetchAllListItems } from '../../src/api/fetch-all-list-items.ts';
import type { CliError } from '../../src/base/errors.ts';

const origin = 'https://api.example';

describe('the items of a list that is known by its links alone', () => {
  it('are those of all pages', async () => {
    const api = apiOf((page) => ({ things: [page, page], links: next(page < 3, page), meta: { total: 6 } }));
    expect(await read(api)).toEqual([1, 1, 2, 2, 3, 3]);
  });

  it('are as they come where no total is told, or only some of the list was asked for', async () => {
    const api = apiOf((page) => ({ things: [page], links: next(page < 3, page), meta: page < 5 ? {} : { total: 9 } }));
    expect(await read(api)).toEqual([1, 2, 3]);
    expect(await read(api, '/v2/things?page=7')).toEqual([7]);
  });

  it('are fewer than the first page, not the last one, of a list that others make shorter', async () => {
    const api = apiOf((page) => ({ things: [page], links: next(page < 3, page), meta: { total: 6 - page } }));
    expect(await read(api)).toEqual([1, 2, 3]);
  });

  it.each([
    ['a number', 450],
    ['a number in quotes', '450'],
  ])('that are fewer than the total, %s, are an error, never silence', async (_what, total) => {
    const api = apiOf((page) => ({ things: [page], links: next(page < 3, page), meta: { total } }));
    expect(await failureOf(read(api))).toMatchObject({
      code: 'incomplete_list',
      message: expect.stringMatching(/\b3 of 450\b/),
    });
  });

  it.each([
    ['are empty', (): readonly unknown[] => []],
    ['are all the same', () => [{ id: 12345678901234567890n.toString() }]],
  ])('end with an error where the pages %s and never end', async (_how, things) => {
    const api = apiOf((page) => ({ things: things(), links: next(page < 100, page) }));
    expect(await failureOf(read(api))).toMatchObject({
      code: 'incomplete_list',
      detail: expect.stringMatching(/^10 /),
    });
    expect(api.asked.length).toBeLessThan(13);
  });

  it('are none where the first answer is no list, and an error where a later one is', async () => {
    expect(await read(apiOf(() => ({ thing: {} })))).toBeUndefined();
    const api = apiOf((page) => (page === 1 ? { things: [1], links: next(true, page) } : undefined));
    expect(await failureOf(read(api))).toMatchObject({ code: 'api_error', exitCode: 1 });
  });
});

interface AskedApi extends ApiClient {
  readonly asked: string[];
}

function apiOf(answer: (page: number) => unknown): AskedApi {
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

function next(isThere: boolean, page: number) {
  return isThere ? { pages: { next: `${origin}/v2/things?page=${page + 1}` } } : {};
}

function read(api: ApiClient, path = '/v2/things') {
  return fetchAllListItems(api, path, async () => undefined);
}

async function failureOf(work: Promise<unknown>): Promise<CliError> {
  return work.then(
    () => expect.fail('it did not fail'),
    (error) => error,
  );
}
