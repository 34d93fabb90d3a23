import { setTimeout } from 'node:timers/promises';
import { CliError } from '../base/errors.ts';
import { stringifyExact } from '../base/exact.ts';
import { tryParseJson } from '../base/json.ts';
import type { ApiResponse } from './api-response.ts';
import type { ApiClient } from './client.ts';
import { createJsonListSplitter } from './json-list-splitter.ts';
import {
  createListCompletenessTracker,
  type ListCompletenessTracker,
  type ListItemId,
} from './list-completeness-tracker.ts';
import { incompleteListError, type ListPage, parseListPage, readNextPagePathFromTail } from './list-page.ts';
import { createRateLimitWaitFunction, type DelayFunction } from './rate-limit-wait.ts';

export interface WholeListRequest<T> {
  /** The path of the list without `page` and `per_page`; it may have other query parameters. */
  readonly path: string;
  /** The name of the JSON member that contains the items. */
  readonly key: string;
  /**
   * The members of an item that `decode`, `idOf` and `createdAt` read. An item that is passed to these functions may
   * lack all other members.
   */
  readonly members: readonly string[];
  readonly decode: (item: unknown) => T | undefined;
  readonly idOf: (item: T) => ListItemId;
  /** The creation time of an item in ISO 8601. */
  readonly createdAt: (item: T) => string | undefined;
  readonly options: ListReadOptions<T>;
}

/** Options of a list request. */
export interface ListReadOptions<T> {
  /** The maximum number of items; reading stops when it is reached. */
  readonly limit?: number | undefined;
  /** The number of items per page, 1 to 200 (default: 200). */
  readonly pageSize?: number;
  /** Filters items in this program after the server has returned them. */
  readonly matches?: ((item: T) => boolean) | undefined;
  /** Waits for the rate limit after the first page. @param ms milliseconds */
  readonly pause?: DelayFunction | undefined;
  /** Called after each page that is followed by another page. */
  readonly onProgress?: ((read: number, total: number | undefined) => void) | undefined;
}

/** Some items of a list. Only `items` creates objects, because creating objects is most of the cost of a long list. */
export interface ListPageItems<T> {
  /** The items as received, as one JSON text per line. */
  readonly lines: () => Uint8Array;
  readonly items: () => readonly T[];
}

/**
 * After this number of consecutive pages without new items reading ends with an error; for small pages, the number grows so
 * that it covers as many items.
 */
function maxEmptyPages(size: number): number {
  return Math.max(10, Math.ceil(200 / size));
}
/** The maximum number of passes over a list that changes while it is read. */
const maxPasses = 9;
/** The number of turns of the event loop until the connection pool sends a request, because it first checks a reused connection. */
const turnsUntilSent = 3;
/** The server's times are whole seconds, and the clocks of the server's machines differ a little. */
const clockToleranceMs = 5_000;

/**
 * Reads every item of a list, page after page; the next page is requested while the current one is processed. Items that other
 * users create or delete during the reading may be missing. Items that exist during the whole reading are returned exactly
 * once. Throws `incomplete_list` when the list may have been read incompletely; list-completeness-tracker.ts explains how this is
 * determined.
 */
export async function* readListPages<T>(api: ApiClient, list: WholeListRequest<T>): AsyncGenerator<ListPageItems<T>> {
  const completeness = createListCompletenessTracker();
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
    `the list changed during each of ${maxPasses} passes`,
  );
}

interface RemainingDemand {
  /** The number of items that may still be returned; Infinity without a limit. */
  left: number;
  /** The server's time at which this pass began: items created since then count as created during the pass. */
  since?: number | undefined;
  total?: number | undefined;
}

/** The first pass uses the requested page size; later passes have other page boundaries. */
function pageSizes({ limit, pageSize = 200, matches }: ListReadOptions<never>): readonly number[] {
  // Matching items may be far from the start of the list, so small pages would need many requests.
  const first = limit === undefined || matches !== undefined ? pageSize : smallestPageSize(limit, pageSize);
  // The page size does not decrease by one from pass to pass, because with one deletion per pass the same two items would be at
  // a page boundary every time.
  const others = Array.from({ length: maxPasses }, (_, at) => 200 - (at * (at + 1)) / 2).filter(
    (size) => size !== first,
  );
  return [first, ...others].slice(0, maxPasses);
}

/** The smallest page size that reads `limit` items without an additional request. */
function smallestPageSize(limit: number, most: number): number {
  return Math.ceil(limit / Math.ceil(limit / most));
}

async function* readOnePass<T>(
  api: ApiClient,
  list: WholeListRequest<T>,
  size: number,
  completeness: ListCompletenessTracker,
  demand: RemainingDemand,
): AsyncGenerator<ListPageItems<T>> {
  const { pause } = list.options;
  const start = new URL(list.path, api.baseOrigin);
  start.searchParams.set('page', '1');
  start.searchParams.set('per_page', String(size));
  const splitter = createJsonListSplitter(list.key, list.members);
  const visited = new Set<string>();
  let asked: RequestedPage | undefined = await requestPage(api, `${start.pathname}${start.search}`);
  for (let empty = 0; asked !== undefined; ) {
    const { path, answer }: RequestedPage = asked;
    const answered: ApiResponse = await answer;
    // When the next page is certainly needed, it is requested before the current page is parsed.
    const soon: string | undefined =
      completeness.isFirstPass && demand.left > size
        ? readNextPagePathFromTail(api.baseOrigin, answered.raw, path)
        : undefined;
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

/**
 * A list page that is not valid JSON, such as one that was cut off, is requested again like after a server error, because
 * otherwise the whole list would be lost.
 */
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
      // A web page from a proxy is not requested again, because the second response would be the same.
      const json = tryParseJson(response.text());
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

async function requestPage(api: ApiClient, path: string, pause?: DelayFunction): Promise<RequestedPage> {
  const answer = api.success({ method: 'GET', path, rateLimitRetry: createRateLimitWaitFunction(pause) });
  /**
   * The caller may stop before this page and never await its response. Without this handler, a failed request would then end
   * the program.
   */
  answer.catch(() => undefined);
  // The connection pool sends the request now, while the previous page is still to be processed.
  for (let turn = 0; turn < turnsUntilSent; turn++) await new Promise(setImmediate);
  return { path, answer };
}

/** Positions of items on the page that are new and match the filter. */
function newItemPositions<T>(
  list: WholeListRequest<T>,
  page: ListPage,
  completeness: ListCompletenessTracker,
  { since, left }: RemainingDemand,
): readonly number[] {
  const { matches } = list.options;
  const fresh: number[] = [];
  let [bornAt, isNew]: [string | undefined, boolean] = [undefined, false];
  for (const [at, skim] of page.partialItems.entries()) {
    const item = decodeItem(list, skim);
    const born = list.createdAt(item);
    // Neighbouring items are often created in the same second, so the parsed creation time is reused.
    if (born !== bornAt) [bornAt, isNew] = [born, Date.parse(born ?? '') >= (since ?? Number.POSITIVE_INFINITY)];
    if (!completeness.addItem(list.idOf(item), isNew)) continue;
    if (matches === undefined || matches(decodeItem(list, page.item(at)))) fresh.push(at);
  }
  return fresh.slice(0, left);
}

function decodeItem<T>({ decode, path, key }: WholeListRequest<T>, json: unknown): T {
  const item = decode(json);
  if (item !== undefined) return item;
  const [plainPath = path] = path.split('?');
  throw new CliError('api_error', `could not read ${plainPath}: could not parse an item of "${key}"`, {
    detail: `the item is ${(stringifyExact(json) ?? '').slice(0, 300)}`,
    hint: `\`cloudctl api GET ${plainPath} --paginate\` prints the list unparsed`,
  });
}
