import type { ApiClient } from '../../src/api/client.ts';
import { type ListOptions, type ListRequest, readList } from '../../src/api/list.ts';
import { CliError } from '../../src/base/errors.ts';
import { testResponse } from './test-response.ts';

export const origin = 'https://api.example';

export interface Thing {
  readonly id: number;
  readonly created_at?: string;
}

export interface RecordingApi extends ApiClient {
  readonly requestedPaths: string[];
}

/** An API that answers paths with bodies, as JSON text; it notes what it was asked. */
export function apiAnswering(answer: (path: string) => unknown, date?: () => number): RecordingApi {
  const asked: string[] = [];
  return {
    baseOrigin: origin,
    requestedPaths: asked,
    success: async ({ path }) => {
      asked.push(path);
      const page = answer(path);
      if (page instanceof Error) throw page;
      if (page === undefined) throw new CliError('not_found', `no page ${path}`);
      return testResponse(200, JSON.stringify(page), { date: date?.() });
    },
    json: () => Promise.reject(new Error('not used')),
    request: () => Promise.reject(new Error('not used')),
  };
}

/** A list that changes: `turn` is called before each page that is read after the first. */
export interface ChangingList {
  readonly things: Thing[];
  readonly order: 'oldest first' | 'newest first';
  readonly onNextPage: () => void;
  readonly now: () => number;
  /** The size a page really has. */
  readonly sizeOf?: (asked: number) => number;
}

export function apiServing(shelf: ChangingList): RecordingApi {
  const respond = (path: string): unknown => {
    if (api.requestedPaths.length > 1) shelf.onNextPage();
    const { pathname, searchParams } = new URL(path, origin);
    const asked = Number(searchParams.get('per_page'));
    const [page, size] = [Number(searchParams.get('page')), shelf.sizeOf?.(asked) ?? asked];
    const things = shelf.order === 'oldest first' ? shelf.things : [...shelf.things].reverse();
    const isLast = page * size >= things.length;
    return {
      things: things.slice((page - 1) * size, page * size),
      links: isLast ? {} : { pages: { next: `${origin}${pathname}?page=${page + 1}&per_page=${asked}` } },
      meta: { total: things.length },
    };
  };
  const api = apiAnswering(respond, shelf.now);
  return api;
}

export function listThings(api: ApiClient, options: ListOptions<Thing> = { pageSize: 2 }, path = '/v2/things') {
  const list: ListRequest<Thing> = {
    path,
    key: 'things',
    decode,
    idOf: ({ id }) => String(id),
    createdAt: (thing) => thing.created_at,
  };
  return readList(api, list, options);
}

export async function idsOf(portions: ReturnType<typeof listThings>): Promise<readonly number[]> {
  const all: number[] = [];
  for await (const page of portions) all.push(...page.map(({ id }) => id));
  return all;
}

function decode(item: unknown): Thing | undefined {
  if (typeof item !== 'object' || item === null || !('id' in item) || typeof item.id !== 'number') return undefined;
  return { id: item.id, ...('created_at' in item ? { created_at: String(item.created_at) } : {}) };
}
