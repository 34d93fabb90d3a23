import { setTimeout } from 'node:timers/promises';
import { CliError } from '../base/errors.ts';
import { stringifyExact } from '../base/exact.ts';
import { isJsonRecord, type JsonRecord, readNumberField, readStringField, tryParseExactJson } from '../base/json.ts';
import { type ApiResponse, notJsonError } from './api-response.ts';
import type { ApiClient } from './client.ts';
import { type Completeness, trackCompleteness } from './completeness.ts';
import { type DelayFunction, limitWait } from './waits.ts';

/** Matches whole names with a shell pattern that may contain `*`, `?` and `[a-z]`. Throws for an invalid range in the pattern. */
export function createGlobMatcher(pattern: string): (name: string) => boolean {
  const source = pattern.replace(
    /\[(!?)([^\]]+)\]|[\s\S]/g,
    (found, not: string | undefined, set: string | undefined) => {
      if (set !== undefined) return `[${not === '!' ? '^' : ''}${set.replace(/[\\\]^]/g, '\\$&')}]`;
      if (found === '*') return '.*';
      return found === '?' ? '.' : found.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
    },
  );
  const expression = new RegExp(`^${source}$`, 'su');
  return (name) => expression.test(name);
}

/** How a list or a resource is read. */
export interface Reader {
  readonly baseOrigin: string;
  /** Sends a GET request, if necessary after a wait for the rate limit. Throws a CliError for any status but 2xx. */
  readonly get: (path: string) => Promise<ApiResponse>;
  readonly sleep: DelayFunction;
}

/** @param pause waits for the rate limit; without it a 429 is an error @param until aborts the requests */
export function createReader(api: ApiClient, pause?: DelayFunction, until?: AbortSignal): Reader {
  const get = (path: string): Promise<ApiResponse> =>
    api.success({ method: 'GET', path, until, rateLimitRetry: limitWait(pause) });
  return { baseOrigin: api.baseOrigin, get, sleep: (ms) => setTimeout(ms, undefined, { signal: until }) };
}

/** A list of the resource API. */
export interface ListRequest<T> {
  /** The path of the list without `page` and `per_page`; it may have other query parameters. */
  readonly path: string;
  /** The name of the JSON member that contains the items. */
  readonly key: string;
  readonly decode: (item: unknown) => T | undefined;
  readonly idOf: (item: T) => string;
  /** The creation time of an item in ISO 8601. */
  readonly createdAt: (item: T) => string | undefined;
}

/** Options for reading a list. */
export interface ListOptions<T> {
  /** The maximum number of items; reading stops when it is reached. */
  readonly limit?: number | undefined;
  /** The number of items per page, 1 to 200 (default: 200). */
  readonly pageSize?: number;
  /** Filters items in this program after the server has returned them. */
  readonly matches?: ((item: T) => boolean) | undefined;
  /** Waits for the rate limit after the first page. @param ms milliseconds */
  readonly pause?: DelayFunction | undefined;
  /** Whether to wait for the rate limit also before the first page. */
  readonly waitsForFirstPage?: boolean;
  /** Called after each page that is followed by another page. */
  readonly onProgress?: ((read: number, total: number | undefined) => void) | undefined;
}

/**
 * After this number of consecutive pages without new items reading ends with an error; for small pages, the number grows so
 * that it covers as many items.
 */
function maxEmptyPages(size: number): number {
  return Math.max(10, Math.ceil(200 / size));
}
/** No service has a list of more pages: a batch of a million droplets has 5,000. */
export const maxPages = 10_000;

/**
 * Throws `incomplete_list` when the pages go on for longer than those of any list, because they would never end.
 * @param most the highest total that one of the pages told
 */
export function requireEnd(path: string, pages: number, items: number, most?: number): void {
  if (pages >= maxPages) throw incompleteListError(path, items, undefined, `there are more than ${maxPages} pages`);
  // Others may have deleted what the first pages had, and created as much; a thousand more is a server that never ends its list.
  if (most !== undefined && items > 2 * most + 1000)
    throw incompleteListError(path, items, undefined, 'the pages do not end, and have more items than meta.total');
}

function higher(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.max(one, other);
}

/** The maximum number of passes over a list that changes while it is read. */
const maxPasses = 9;
/** The number of turns of the event loop until the connection pool sends a request, because it first checks a reused connection. */
const turnsUntilSent = 3;
/** The server's times are whole seconds, and the clocks of the server's machines differ a little. */
const clockToleranceMs = 5_000;

/**
 * Reads every item of a list, page after page; the next page is requested while the items of the current one are used. Items
 * that other users create or delete during the reading may be missing. Items that exist during the whole reading are returned
 * exactly once. Throws `incomplete_list` when the list may have been read incompletely; completeness.ts explains how this is
 * determined.
 */
export async function* readList<T>(
  api: ApiClient,
  list: ListRequest<T>,
  options: ListOptions<T> = {},
): AsyncGenerator<readonly T[]> {
  const completeness = trackCompleteness();
  const demand: Demand = { left: options.limit ?? Number.POSITIVE_INFINITY };
  const fail = (why: string): CliError => incompleteListError(list.path, completeness.itemCount, demand.total, why);
  for (const size of pageSizes(options)) {
    yield* readOnePass(api, list, options, size, completeness, demand);
    if (demand.left <= 0) return;
    const result = completeness.result();
    if (result === 'complete') return;
    if (result === 'short') throw fail('the pages have fewer items than meta.total');
    completeness.beginPass();
    demand.since = undefined;
  }
  throw fail(`the list changed during each of ${maxPasses} passes`);
}

interface Demand {
  /** The number of items that may still be returned; Infinity without a limit. */
  left: number;
  /** The server's time at which this pass began: items created since then count as created during the pass. */
  since?: number | undefined;
  total?: number | undefined;
  /** The highest total of all pages. */
  most?: number | undefined;
}

/** The first pass uses the requested page size; later passes have other page boundaries. */
function pageSizes({ limit, pageSize = 200, matches }: ListOptions<never>): readonly number[] {
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
  list: ListRequest<T>,
  { pause, waitsForFirstPage, matches, onProgress }: ListOptions<T>,
  size: number,
  completeness: Completeness,
  demand: Demand,
): AsyncGenerator<readonly T[]> {
  const start = new URL(list.path, api.baseOrigin);
  start.searchParams.set('page', '1');
  start.searchParams.set('per_page', String(size));
  const visited = new Set<string>();
  const reader = createReader(api, pause);
  let requested: Promise<ListPage<T>> | undefined = readPage(
    waitsForFirstPage === true ? reader : createReader(api),
    list,
    `${start.pathname}${start.search}`,
  );
  for (let empty = 0; requested !== undefined; ) {
    const { items, next, total, date }: ListPage<T> = await requested;
    demand.total = total;
    demand.most = higher(demand.most, total);
    demand.since ??= (date ?? Number.POSITIVE_INFINITY) - clockToleranceMs;
    const before = completeness.itemCountInPass;
    completeness.beginPage(total);
    const fresh = newItems(list, items, completeness, demand.since);
    const wanted = (matches === undefined ? fresh : fresh.filter(matches)).slice(0, demand.left);
    demand.left -= wanted.length;
    const isMoreWanted: boolean = completeness.endPage(next === undefined) && demand.left > 0;
    const fail = (why: string): CliError => incompleteListError(list.path, completeness.itemCount, total, why);
    if (next !== undefined && visited.has(next)) throw fail(`the page ${next} was returned twice`);
    if (next !== undefined) visited.add(next);
    if (next !== undefined) requireEnd(list.path, visited.size, completeness.itemCountInPass, demand.most);
    requested = next === undefined || !isMoreWanted ? undefined : readPage(reader, list, next);
    if (requested !== undefined) {
      // The caller may stop before this page. Without a handler, its failure would then end the program.
      requested.catch(() => undefined);
      // The connection pool sends the request now, while the items of this page are used.
      for (let turn = 0; turn < turnsUntilSent; turn++) await new Promise(setImmediate);
      onProgress?.(completeness.itemCount, total);
    }
    if (wanted.length > 0) yield wanted;
    empty = completeness.itemCountInPass > before ? 0 : empty + 1;
    if (empty >= maxEmptyPages(size) && requested !== undefined)
      throw fail(`${empty} consecutive pages have no new items`);
  }
}

/** The items that no earlier page had. @param since items created since then count as created during the reading */
function newItems<T>(
  { createdAt, idOf }: ListRequest<T>,
  items: readonly T[],
  completeness: Completeness,
  since: number,
): readonly T[] {
  return items.filter((item) => completeness.addItem(idOf(item), Date.parse(createdAt(item) ?? '') >= since));
}

/** One page of a list of the resource API. */
export interface ListPage<T> {
  readonly items: readonly T[];
  /** `meta.total` */
  readonly total: number | undefined;
  /** Path and query of the next page of the list. */
  readonly next: string | undefined;
  /** The time of the response by the server's clock, in milliseconds since the epoch. */
  readonly date: number | undefined;
}

const maxPageReads = 3;

/**
 * Reads one page. A page that is not valid JSON, such as one that was cut off, is requested again like after a server error,
 * because otherwise the whole list would be lost. @param path path and query of the page
 */
export async function readPage<T>(
  { baseOrigin, get, sleep }: Reader,
  list: Pick<ListRequest<T>, 'key' | 'decode'>,
  path: string,
): Promise<ListPage<T>> {
  for (let attempt = 1; ; attempt++) {
    const response = await get(path);
    const json = response.raw.size === 0 ? undefined : tryParseExactJson(response.text());
    if (json?.ok !== false) return decodePage(json?.value, list, path, baseOrigin, response.date);
    // A web page from a proxy is not requested again, because the second response would be the same.
    const isBroken = response.contentType() === 'application/json' && !json.isTooDeep;
    if (!isBroken || attempt === maxPageReads) throw notJsonError(response, 'GET', withoutQuery(path), json);
    await sleep(250 * 2 ** attempt);
  }
}

function decodePage<T>(
  page: unknown,
  { key, decode }: Pick<ListRequest<T>, 'key' | 'decode'>,
  path: string,
  baseOrigin: string,
  date: number | undefined,
): ListPage<T> {
  const list = isJsonRecord(page) ? page[key] : undefined;
  if (!isJsonRecord(page) || !Array.isArray(list)) {
    throw new CliError('api_error', `could not read ${withoutQuery(path)}: the response has no list "${key}"`, {
      hint: 'check base_url with `cloudctl config list`',
    });
  }
  const items = list.map((json: unknown) => decode(json) ?? notAnItem(json, key, withoutQuery(path)));
  return { items, total: readListTotal(page), next: nextPagePath(baseOrigin, page.links, path), date };
}

function notAnItem(json: unknown, key: string, path: string): never {
  throw new CliError('api_error', `could not read ${path}: could not parse an item of "${key}"`, {
    detail: `the item is ${(stringifyExact(json) ?? '').slice(0, 300)}`,
    hint: `\`cloudctl api GET ${path} --paginate\` prints the list unparsed`,
  });
}

/** Reads one droplet or action by its id. Throws `not_found` if it does not exist. */
export async function readItem<T extends { readonly id: string }>(
  { get }: Reader,
  kind: 'droplet' | 'action',
  decode: (json: unknown) => T | undefined,
  id: string,
): Promise<T> {
  const path = `/v2/${kind}s/${id}`;
  const response = await get(path);
  const json = response.raw.size === 0 ? undefined : tryParseExactJson(response.text());
  if (json?.ok === false) throw notJsonError(response, 'GET', path, json);
  const item = isJsonRecord(json?.value) ? decode(json.value[kind]) : undefined;
  if (item?.id === id) return item;
  throw new CliError('api_error', `could not parse the response of GET ${path}: it is not ${kind} ${id}`, {
    hint: 'check base_url with `cloudctl config list`',
  });
}

/** The result, or undefined if the resource does not exist. */
export async function ifFound<T>(reading: Promise<T>): Promise<T | undefined> {
  return reading.catch((error: unknown) => {
    if (error instanceof CliError && error.code === 'not_found') return undefined;
    throw error;
  });
}

function withoutQuery(path: string): string {
  return path.split('?')[0] ?? path;
}

/** Reads `meta.total`, also if it is a string of digits: without a total a list cannot be recognized as complete. */
export function readListTotal({ meta }: JsonRecord): number | undefined {
  if (!isJsonRecord(meta)) return undefined;
  const text = readStringField(meta, 'total');
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : readNumberField(meta, 'total');
}

/**
 * Path and query of the link `links.pages.next`. Throws a CliError for a link to another origin. A relative link is resolved
 * against `path` (RFC 3986 §5.1.3).
 */
export function nextPagePath(baseOrigin: string, links: unknown, path: string): string | undefined {
  const pages = isJsonRecord(links) && isJsonRecord(links.pages) ? links.pages : {};
  const next = pages.next || '';
  if (next === '') return undefined;
  const here = `${baseOrigin}${path}`;
  const url = typeof next === 'string' && URL.canParse(next, here) ? new URL(next, here) : undefined;
  // A link that cannot be parsed shows that the list has another page, so it is an error.
  if (url === undefined)
    throw new CliError('api_error', 'could not read the next page: its link is not a URL', {
      detail: `links.pages.next is ${typeof next === 'string' ? `"${next.slice(0, 200)}"` : `not a string, but ${stringifyExact(next)?.slice(0, 200)}`}`,
    });
  if (url.origin !== baseOrigin) {
    throw new CliError('api_error', 'could not read the next page: its link has another origin', {
      detail: `${url.origin} is not ${baseOrigin}; the token was not sent there`,
    });
  }
  return `${url.pathname}${url.search}`;
}

/** The error for a list that was not read completely. */
function incompleteListError(path: string, got: number, total: number | undefined, why: string): CliError {
  return new CliError(
    'incomplete_list',
    `could not read all of ${path}: ${total === undefined ? `${got} items were read` : `${got} of ${total} items`}`,
    {
      detail: why,
      hint: 'run the command again',
    },
  );
}

/** After this number of consecutive pages without new items, `paginate` ends with an error. */
const maxUnchangedPages = 10;

/**
 * Reads all items of a list of any resource by following the links to the next page. Items are not compared, so an item that
 * moved between pages may be returned twice. The result is undefined if the response at `path` is not a list. When the rate
 * limit is reached after the first page, `pause` waits.
 */
export async function paginate(
  api: ApiClient,
  path: string,
  pause: DelayFunction,
): Promise<readonly unknown[] | undefined> {
  const items: unknown[] = [];
  const visited = new Set<string>();
  let [least, isFromStart, idle, before]: [number, boolean, number, string | undefined] = [0, false, 0, undefined];
  let most: number | undefined;
  for (let next: string | undefined = path; next !== undefined; ) {
    const isFirst = visited.size === 0;
    if (visited.has(next))
      throw incompleteListError(path, items.length, undefined, `the page ${next} was returned twice`);
    visited.add(next);
    const page = await api.json({
      method: 'GET',
      path: next,
      rateLimitRetry: isFirst ? undefined : limitWait(pause),
    });
    const list = findList(page);
    if (!isJsonRecord(page) || list === undefined) {
      if (isFirst) return undefined;
      throw new CliError('api_error', `could not read all of ${path}: a page is not a list`, {
        detail: `the earlier pages have ${items.length} items`,
        hint: 'run the command again',
      });
    }
    for (const item of list) items.push(item);
    const total = readListTotal(page);
    if (isFirst) isFromStart = isFirstPage(page, path);
    if (total !== undefined) least = isFirst ? total : Math.min(least, total);
    const text = stringifyExact(list);
    idle = list.length === 0 || text === before ? idle + 1 : 0;
    before = text;
    next = nextPagePath(api.baseOrigin, page.links, next);
    most = higher(most, total);
    if (next !== undefined) requireEnd(path, visited.size, items.length, most);
    if (idle === maxUnchangedPages && next !== undefined)
      throw incompleteListError(path, items.length, total, `${maxUnchangedPages} consecutive pages have no new items`);
  }
  // Although other users create and delete items during the reading, all pages together contain at least the lowest total.
  if (isFromStart && items.length < least)
    throw incompleteListError(path, items.length, least, 'the pages have fewer items than meta.total');
  return items;
}

function findList(page: unknown): readonly unknown[] | undefined {
  if (!isJsonRecord(page)) return undefined;
  for (const [key, value] of Object.entries(page))
    if (key !== 'links' && key !== 'meta' && Array.isArray(value)) return value;
  return undefined;
}

/** Reading that starts at a later page returns fewer items than the total. */
function isFirstPage({ links }: JsonRecord, path: string): boolean {
  const page = new URLSearchParams(path.split('?')[1]).get('page');
  const hasPrevious = isJsonRecord(links) && isJsonRecord(links.pages) && typeof links.pages.prev === 'string';
  return !hasPrevious && (page === null || page === '1');
}
