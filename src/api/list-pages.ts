import { CliError } from '../errors.ts';
import { stringifyExact } from '../exact.ts';
import type { ApiResponse } from './api-response.ts';
import type { Api } from './client.ts';
import { createListCompleteness, type ItemId, type ListCompleteness } from './list-completeness.ts';
import { incompleteListError, type ListPage, nextPathFromTail, parseListPage } from './list-page.ts';
import { createRateLimitRetry, type Pause } from './rate-limit-retry.ts';
import { createListSplitter } from './split-list.ts';

export interface ListRequest<T> {
  /** Path without `page` and `per_page`; may carry other parameters. */
  readonly path: string;
  /** The key that holds the items. */
  readonly key: string;
  /** What `decode`, `idOf` and `bornAt` look at: an item may be without the rest when these are called. */
  readonly members: readonly string[];
  readonly decode: (item: unknown) => T | undefined;
  readonly idOf: (item: T) => ItemId;
  /** When the item came to be, ISO 8601. */
  readonly createdAt: (item: T) => string | undefined;
  readonly options: ListOptions<T>;
}

/** What a caller wants of a list. */
export interface ListOptions<T> {
  /** At most so many items, and no request for more. */
  readonly limit?: number | undefined;
  /** 1 to 200 (200). */
  readonly pageSize?: number;
  /** Only these; judged here, after the server has given them. */
  readonly matches?: ((item: T) => boolean) | undefined;
  /** Waits so many milliseconds for the rate limit: a list that has begun is not given up for it. */
  readonly pause?: Pause | undefined;
  /** Told when a page is there and another one follows. */
  readonly onProgress?: ((read: number, total: number | undefined) => void) | undefined;
}

/** Some items of a list. What is not asked for is not made: a hundred thousand objects are most of what a list costs. */
export interface ListChunk<T> {
  /** As the JSON texts they came as, each on one line. */
  readonly lines: () => Uint8Array;
  readonly items: () => readonly T[];
}

/** Pages without anything new before a list that never ends is given up. */
const maxEmptyPages = 10;
/** Passes over a list that does not hold still. */
const maxPasses = 9;
/** Turns of the event loop before a request is on its way: a connection that was used before is looked at first. */
const turnsUntilSent = 3;
/** The server's times are whole seconds, and those of its parts differ a little. */
const clockToleranceMs = 5_000;

/**
 * Every item of a list, page after page, the next page asked for while this one is used.
 * Items that others create or delete meanwhile may be there or not; of all others each comes once, and if that cannot be
 * made sure it is an error, never silence. See survey.ts for how it is known.
 */
export async function* listPages<T>(api: Api, list: ListRequest<T>): AsyncGenerator<ListChunk<T>> {
  const survey = createListCompleteness();
  const demand: RemainingDemand = { left: list.options.limit ?? Number.POSITIVE_INFINITY };
  for (const size of pageSizes(list.options)) {
    yield* readOnePass(api, list, size, survey, demand);
    if (demand.left <= 0) return;
    const verdict = survey.result();
    if (verdict === 'complete') return;
    if (verdict === 'short')
      throw incompleteListError(
        list.path,
        survey.itemCount,
        demand.total,
        'the pages held fewer items than meta.total',
      );
    survey.beginPass();
    demand.since = undefined;
  }
  throw incompleteListError(
    list.path,
    survey.itemCount,
    demand.total,
    `it changed while it was read, ${maxPasses} times over`,
  );
}

interface RemainingDemand {
  /** Items still wanted. */
  left: number;
  /** What was created from then on came while the pass went on; the server's time. */
  since?: number | undefined;
  total?: number | undefined;
}

/** The first pass in the size that was asked for; each later one is cut at other places. */
function pageSizes({ limit, pageSize = 200, matches }: ListOptions<never>): readonly number[] {
  // What is filtered here may be far down the list: small pages would be many requests.
  const first = limit === undefined || matches !== undefined ? pageSize : smallestPageSize(limit, pageSize);
  // Not each by one less: who deletes one in each pass would move the same two to the ends of two pages every time.
  const others = Array.from({ length: maxPasses }, (_, at) => 200 - (at * (at + 1)) / 2).filter(
    (size) => size !== first,
  );
  return [first, ...others].slice(0, maxPasses);
}

/** As many requests as needed, and no larger ones than needed. */
function smallestPageSize(limit: number, most: number): number {
  return Math.ceil(limit / Math.ceil(limit / most));
}

async function* readOnePass<T>(
  api: Api,
  list: ListRequest<T>,
  size: number,
  survey: ListCompleteness,
  demand: RemainingDemand,
): AsyncGenerator<ListChunk<T>> {
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
    // While there is no doubt that another page is wanted, it is asked for before this one is understood.
    const soon: string | undefined =
      survey.isFirstPass && demand.left > size ? nextPathFromTail(api.baseOrigin, answered.raw, path) : undefined;
    const early: RequestedPage | undefined =
      soon === undefined || visited.has(soon) ? undefined : await requestPage(api, soon, pause);
    const page = parseListPage(api.baseOrigin, { key: list.key, path }, answered, splitter);
    const { next, total } = page;
    demand.total = total;
    demand.since ??= (page.date ?? Number.POSITIVE_INFINITY) - clockToleranceMs;
    const before = survey.itemCountInPass;
    survey.beginPage(total);
    const fresh = newItemPositions(list, page, survey, demand);
    demand.left -= fresh.length;
    const isWanted = survey.endPage(next === undefined) && demand.left > 0;
    if (next !== undefined && visited.has(next))
      throw incompleteListError(list.path, survey.itemCount, total, `the page ${next} came twice`);
    if (next !== undefined) visited.add(next);
    asked = next === undefined || !isWanted ? undefined : (early ?? (await requestPage(api, next, pause)));
    if (asked !== undefined) list.options.onProgress?.(survey.itemCount, total);
    if (fresh.length > 0)
      yield { lines: () => page.lines(fresh), items: () => fresh.map((at) => decodeItem(list, page.item(at))) };
    empty = survey.itemCountInPass > before ? 0 : empty + 1;
    if (empty >= maxEmptyPages && asked !== undefined)
      throw incompleteListError(
        list.path,
        survey.itemCount,
        total,
        `${maxEmptyPages} pages in a row brought nothing new`,
      );
  }
}

interface RequestedPage {
  readonly path: string;
  readonly answer: Promise<ApiResponse>;
}

async function requestPage(api: Api, path: string, pause?: Pause): Promise<RequestedPage> {
  const answer = api.success({ method: 'GET', path, rateLimitRetry: createRateLimitRetry(pause) });
  // If the reader stops early, nobody awaits it: its failure must not end the program.
  answer.catch(() => undefined);
  // It leaves now, and not when the page before it has been worked on.
  for (let turn = 0; turn < turnsUntilSent; turn++) await new Promise(setImmediate);
  return { path, answer };
}

/** The places on the page of items that were never met and are wanted. */
function newItemPositions<T>(
  list: ListRequest<T>,
  page: ListPage,
  survey: ListCompleteness,
  { since, left }: RemainingDemand,
): readonly number[] {
  const { matches } = list.options;
  const fresh: number[] = [];
  let [bornAt, isNewcomer]: [string | undefined, boolean] = [undefined, false];
  for (const [at, skim] of page.partialItems.entries()) {
    const item = decodeItem(list, skim);
    const born = list.createdAt(item);
    // Many stand side by side that were made within the same second.
    if (born !== bornAt) [bornAt, isNewcomer] = [born, Date.parse(born ?? '') >= (since ?? Number.POSITIVE_INFINITY)];
    if (!survey.addItem(list.idOf(item), isNewcomer)) continue;
    if (matches === undefined || matches(decodeItem(list, page.item(at)))) fresh.push(at);
  }
  return fresh.slice(0, left);
}

function decodeItem<T>({ decode, path, key }: ListRequest<T>, json: unknown): T {
  const item = decode(json);
  if (item !== undefined) return item;
  const [plainPath = path] = path.split('?');
  throw new CliError('api_error', `could not read ${plainPath}: an item of "${key}" is not understood`, {
    detail: `it is ${(stringifyExact(json) ?? '').slice(0, 300)}`,
    hint: `\`cloudctl api GET ${plainPath} --paginate\` prints the list without looking into it`,
  });
}
