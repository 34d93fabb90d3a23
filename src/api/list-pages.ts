import { setTimeout } from 'node:timers/promises';
import { CliError } from '../errors.ts';
import { stringifyExact } from '../exact.ts';
import { parseJson } from '../json.ts';
import type { ApiResponse } from './api-response.ts';
import type { Api } from './client.ts';
import { createListCompleteness, type ListCompleteness, type ListItemId } from './list-completeness.ts';
import { incompleteListError, type ListPage, nextPathFromTail, parseListPage } from './list-page.ts';
import { createRateLimitRetry, type WaitMilliseconds } from './rate-limit-retry.ts';
import { createListSplitter } from './split-list.ts';

export interface ListRequest<T> {
  /** Path without `page` and `per_page`; may carry other parameters. */
  readonly path: string;
  /** The key that holds the items. */
  readonly key: string;
  /** Members that `decode`, `idOf` and `createdAt` read. Items may have only these when they are called. */
  readonly members: readonly string[];
  readonly decode: (item: unknown) => T | undefined;
  readonly idOf: (item: T) => ListItemId;
  /** When the item was created, ISO 8601. */
  readonly createdAt: (item: T) => string | undefined;
  readonly options: ListOptions<T>;
}

/** Options of a list request. */
export interface ListOptions<T> {
  /** The largest number of items; no request is sent for more. */
  readonly limit?: number | undefined;
  /** 1 to 200 (default: 200). */
  readonly pageSize?: number;
  /** Filters items on this side, after the server has returned them. */
  readonly matches?: ((item: T) => boolean) | undefined;
  /** Waits for the rate limit after the first page, in milliseconds. */
  readonly pause?: WaitMilliseconds | undefined;
  /** Called after each page that another one follows. */
  readonly onProgress?: ((read: number, total: number | undefined) => void) | undefined;
}

/** Some items of a list. Objects are created only by `items`: for a long list they are most of the cost. */
export interface PageItems<T> {
  /** The items as received, one JSON text per line. */
  readonly lines: () => Uint8Array;
  readonly items: () => readonly T[];
}

/** Consecutive pages without new items after which reading ends with an error; small pages have as many items as a large one. */
function maxEmptyPages(size: number): number {
  return Math.max(10, Math.ceil(200 / size));
}
/** Passes over a list that changes while it is read. */
const maxPasses = 9;
/** Turns of the event loop until a request is sent: the connection pool first checks a reused connection. */
const turnsUntilSent = 3;
/** The server's times are whole seconds, and the clocks of its machines differ a little. */
const clockToleranceMs = 5_000;

/**
 * Every item of a list, page after page; the next page is requested while the current one is processed. Items that other users
 * create or delete during the reading may be missing. Every other item is returned once. Throws `incomplete_list` when that is
 * not certain; list-completeness.ts explains how it is known.
 */
export async function* listPages<T>(api: Api, list: ListRequest<T>): AsyncGenerator<PageItems<T>> {
  const completeness = createListCompleteness();
  const demand: RemainingDemand = { left: list.options.limit ?? Number.POSITIVE_INFINITY };
  for (const size of pageSizes(list.options)) {
    yield* readOnePass(api, list, size, completeness, demand);
    if (demand.left <= 0) return;
    const verdict = completeness.result();
    if (verdict === 'complete') return;
    if (verdict === 'short')
      throw incompleteListError(
        list.path,
        completeness.itemCount,
        demand.total,
        'the pages have fewer items than meta.total',
      );
    completeness.beginPass();
    demand.since = undefined;
  }
  throw incompleteListError(
    list.path,
    completeness.itemCount,
    demand.total,
    `it changed during each of ${maxPasses} passes`,
  );
}

interface RemainingDemand {
  /** How many more items may be returned; Infinity without a limit. */
  left: number;
  /** Items that were created from this time on are new in this pass; the server's time. */
  since?: number | undefined;
  total?: number | undefined;
}

/** The first pass uses the requested page size; later passes have other page boundaries. */
function pageSizes({ limit, pageSize = 200, matches }: ListOptions<never>): readonly number[] {
  // Matching items may be far down the list: small pages would need many requests.
  const first = limit === undefined || matches !== undefined ? pageSize : smallestPageSize(limit, pageSize);
  // The sizes do not fall by one each: with one deletion per pass the same two items would be at a page boundary every time.
  const others = Array.from({ length: maxPasses }, (_, at) => 200 - (at * (at + 1)) / 2).filter(
    (size) => size !== first,
  );
  return [first, ...others].slice(0, maxPasses);
}

/** The smallest page size that needs no additional request. */
function smallestPageSize(limit: number, most: number): number {
  return Math.ceil(limit / Math.ceil(limit / most));
}

async function* readOnePass<T>(
  api: Api,
  list: ListRequest<T>,
  size: number,
  completeness: ListCompleteness,
  demand: RemainingDemand,
): AsyncGenerator<PageItems<T>> {
  const { pause } = list.options;
  const start = new URL(list.path, api.baseOrigin);
  start.searchParams.set('page', '1');
  start.searchParams.set('per_page', String(size));
  const splitter = createListSplitter(list.key, list.members);
  const visited = new Set<string>();
  let asked: RequestedPage | undefined = await requestPage(api, `${start.pathname}${start.search}`);
  for (let empty = 0; asked !== undefined; ) {
    const { path, answer }: RequestedPage = asked;
    const answered: ApiResponse = await answer;
    // When another page is certainly wanted, it is requested before this one is parsed.
    const soon: string | undefined =
      completeness.isFirstPass && demand.left > size ? nextPathFromTail(api.baseOrigin, answered.raw, path) : undefined;
    const early: RequestedPage | undefined =
      soon === undefined || visited.has(soon) ? undefined : await requestPage(api, soon, pause);
    const parse = (response: ApiResponse): ListPage =>
      parseListPage(api.baseOrigin, { key: list.key, path }, response, splitter);
    const page = await parseOrReadAgain(parse, answered, async () => (await requestPage(api, path, pause)).answer);
    const { next, total } = page;
    demand.total = total;
    demand.since ??= (page.date ?? Number.POSITIVE_INFINITY) - clockToleranceMs;
    const before = completeness.itemCountInPass;
    completeness.beginPage(total);
    const newItems = newItemPositions(list, page, completeness, demand);
    demand.left -= newItems.length;
    const isWanted = completeness.endPage(next === undefined) && demand.left > 0;
    if (next !== undefined && visited.has(next))
      throw incompleteListError(list.path, completeness.itemCount, total, `the page ${next} was returned twice`);
    if (next !== undefined) visited.add(next);
    asked = next === undefined || !isWanted ? undefined : (early ?? (await requestPage(api, next, pause)));
    if (asked !== undefined) list.options.onProgress?.(completeness.itemCount, total);
    if (newItems.length > 0)
      yield { lines: () => page.lines(newItems), items: () => newItems.map((at) => decodeItem(list, page.item(at))) };
    empty = completeness.itemCountInPass > before ? 0 : empty + 1;
    if (empty >= maxEmptyPages(size) && asked !== undefined)
      throw incompleteListError(
        list.path,
        completeness.itemCount,
        total,
        `${empty} consecutive pages have no new items`,
      );
  }
}

/** A body that is not JSON, such as one that was cut off, is read again like a server error: a long list would else be lost. */
async function parseOrReadAgain(
  parse: (response: ApiResponse) => ListPage,
  first: ApiResponse,
  readAgain: () => Promise<ApiResponse>,
): Promise<ListPage> {
  let response = first;
  for (let attempt = 1; ; attempt++) {
    try {
      return parse(response);
    } catch (error) {
      // The page of a proxy would be the same again.
      const json = parseJson(response.text());
      const isBroken = response.contentType() === 'application/json' && !json.ok && !json.isTooDeep;
      if (!isBroken || attempt === maxPageReads) throw error;
    }
    await setTimeout(250 * 2 ** attempt);
    response = await readAgain();
  }
}

const maxPageReads = 3;

interface RequestedPage {
  readonly path: string;
  readonly answer: Promise<ApiResponse>;
}

async function requestPage(api: Api, path: string, pause?: WaitMilliseconds): Promise<RequestedPage> {
  const answer = api.success({ method: 'GET', path, rateLimitRetry: createRateLimitRetry(pause) });
  // A caller that stops before this page never awaits the response. Its rejection must not end the program.
  answer.catch(() => undefined);
  // It is sent now, and not after the previous page has been processed.
  for (let turn = 0; turn < turnsUntilSent; turn++) await new Promise(setImmediate);
  return { path, answer };
}

/** Positions on the page of items that are new and wanted. */
function newItemPositions<T>(
  list: ListRequest<T>,
  page: ListPage,
  completeness: ListCompleteness,
  { since, left }: RemainingDemand,
): readonly number[] {
  const { matches } = list.options;
  const fresh: number[] = [];
  let [bornAt, isNew]: [string | undefined, boolean] = [undefined, false];
  for (const [at, skim] of page.partialItems.entries()) {
    const item = decodeItem(list, skim);
    const born = list.createdAt(item);
    // Neighbouring items are often created in the same second, so the parsed time is reused.
    if (born !== bornAt) [bornAt, isNew] = [born, Date.parse(born ?? '') >= (since ?? Number.POSITIVE_INFINITY)];
    if (!completeness.addItem(list.idOf(item), isNew)) continue;
    if (matches === undefined || matches(decodeItem(list, page.item(at)))) fresh.push(at);
  }
  return fresh.slice(0, left);
}

function decodeItem<T>({ decode, path, key }: ListRequest<T>, json: unknown): T {
  const item = decode(json);
  if (item !== undefined) return item;
  const [plainPath = path] = path.split('?');
  throw new CliError('api_error', `could not read ${plainPath}: could not parse an item of "${key}"`, {
    detail: `the item is ${(stringifyExact(json) ?? '').slice(0, 300)}`,
    hint: `\`cloudctl api GET ${plainPath} --paginate\` prints the list unparsed`,
  });
}
