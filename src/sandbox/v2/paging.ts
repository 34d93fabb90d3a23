import type { HttpRequest } from '../http/request.ts';
import { type ApiReply, apiJsonReply, unprocessable } from './api.ts';

export interface PageRequest {
  readonly page: number;
  readonly perPage: number;
}

/** The items of one page, with the length of the whole list. */
export interface PageSlice<Item> {
  readonly items: readonly Item[];
  readonly total: number;
}

/**
 * Reads the parameters `page` (1 or greater, default: 1) and `per_page` (1 to 200, default: 20); returns an ApiReply when a
 * value is invalid.
 */
export function readPageRequest(request: HttpRequest): PageRequest | ApiReply {
  const page = readNumber(request, 'page', 1, Number.MAX_SAFE_INTEGER);
  const perPage = readNumber(request, 'per_page', 20, 200);
  if (page === undefined) return unprocessable('page must be one integer, 1 or greater.');
  if (perPage === undefined) return unprocessable('per_page must be one integer from 1 to 200.');
  return { page, perPage };
}

/** Returns one page of a list in the original or reversed order. */
export function slicePage<Item>(
  items: readonly Item[],
  { page, perPage }: PageRequest,
  order: 'forwards' | 'backwards',
): PageSlice<Item> {
  const start = (page - 1) * perPage;
  if (order === 'forwards') return { items: items.slice(start, start + perPage), total: items.length };
  const end = items.length - start;
  return { items: end <= 0 ? [] : items.slice(Math.max(0, end - perPage), end).reverse(), total: items.length };
}

/** Returns one page of the matching items; a single pass over the list keeps only the items of the page. */
export function sliceMatching<Item>(
  items: readonly Item[],
  page: PageRequest,
  matches: (item: Item) => boolean,
): PageSlice<Item> {
  const start = (page.page - 1) * page.perPage;
  const kept: Item[] = [];
  let total = 0;
  for (const item of items) {
    if (!matches(item)) continue;
    if (total >= start && kept.length < page.perPage) kept.push(item);
    total += 1;
  }
  return { items: kept, total };
}

/**
 * Creates the list response `{<key>: […], links, meta}`. Links to other pages are absolute and keep the filters of the
 * request. Their origin is the public origin of the sandbox, else the origin that the client used.
 */
export function listReply(
  request: HttpRequest,
  key: string,
  { page, perPage }: PageRequest,
  { total }: PageSlice<unknown>,
  /** The JSON text of each list item. */
  views: readonly string[],
): ApiReply {
  const last = Math.max(1, Math.ceil(total / perPage));
  const link = (number: number): string => {
    const query = new URLSearchParams(request.query);
    query.set('page', String(number));
    query.set('per_page', String(perPage));
    return `${request.linkOrigin}${request.path}?${query}`;
  };
  const pages = {
    ...(page > 1 ? { first: link(1), prev: link(Math.min(page - 1, last)) } : {}),
    ...(page < last ? { next: link(page + 1), last: link(last) } : {}),
  };
  const links = JSON.stringify(Object.keys(pages).length === 0 ? {} : { pages });
  return apiJsonReply(200, `{"${key}":[${views.join(',')}],"links":${links},"meta":{"total":${total}}}`);
}

function readNumber(request: HttpRequest, name: string, fallback: number, highest: number): number | undefined {
  const parameters = request.parameters();
  if (parameters.isRepeated(name)) return undefined;
  const text = parameters.get(name);
  if (text === undefined) return fallback;
  const number = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  return number >= 1 && number <= highest ? number : undefined;
}
