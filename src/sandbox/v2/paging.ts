import type { HttpRequest } from '../http/http-request.ts';
import { unprocessableReply } from './api-errors.ts';
import { type ApiReply, apiReplyOfJson } from './api-reply.ts';

export interface PageRequest {
  readonly page: number;
  readonly perPage: number;
}

/** A window on a longer list: only the items on the page are ever looked at together. */
export interface PageSlice<Item> {
  readonly items: readonly Item[];
  readonly total: number;
}

/** `page` from 1, `per_page` from 1 to 200; what is wrong with them otherwise. */
export function readPageRequest(request: HttpRequest): PageRequest | ApiReply {
  const page = readNumber(request, 'page', 1, Number.MAX_SAFE_INTEGER);
  const perPage = readNumber(request, 'per_page', 20, 200);
  if (page === undefined) return unprocessableReply('page must be a number from 1 on, given once.');
  if (perPage === undefined) return unprocessableReply('per_page must be a number from 1 to 200, given once.');
  return { page, perPage };
}

/** One page of a list that stands in memory in the order asked for, or in the reverse of it. */
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

/** One page of the items that match, in a single pass that keeps nothing but the page. */
export function sliceMatchingPage<Item>(
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

/** `{<key>: […], links, meta}`; links are absolute on the origin the client itself used, and keep its filters. */
export function listReply(
  request: HttpRequest,
  key: string,
  { page, perPage }: PageRequest,
  { total }: PageSlice<unknown>,
  /** JSON of each item. */
  views: readonly string[],
): ApiReply {
  const last = Math.max(1, Math.ceil(total / perPage));
  const link = (number: number): string => {
    const query = new URLSearchParams(request.query);
    query.set('page', String(number));
    query.set('per_page', String(perPage));
    return `http://${request.authority}${request.path}?${query}`;
  };
  const pages = {
    ...(page > 1 ? { first: link(1), prev: link(Math.min(page - 1, last)) } : {}),
    ...(page < last ? { next: link(page + 1), last: link(last) } : {}),
  };
  const links = JSON.stringify(Object.keys(pages).length === 0 ? {} : { pages });
  return apiReplyOfJson(200, `{"${key}":[${views.join(',')}],"links":${links},"meta":{"total":${total}}}`);
}

function readNumber(request: HttpRequest, name: string, fallback: number, highest: number): number | undefined {
  const parameters = request.parameters();
  if (parameters.isRepeated(name)) return undefined;
  const text = parameters.get(name);
  if (text === undefined) return fallback;
  const number = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  return number >= 1 && number <= highest ? number : undefined;
}
