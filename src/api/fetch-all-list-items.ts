import { CliError } from '../base/errors.ts';
import { stringifyExact } from '../base/exact.ts';
import { isJsonRecord, type JsonRecord } from '../base/json.ts';
import type { ApiClient } from './client.ts';
import { incompleteListError, nextPagePath, readListTotal } from './list-page.ts';
import { createRateLimitWaitFunction, type DelayFunction } from './rate-limit-wait.ts';

/** After this number of consecutive pages without new items, reading the list ends with an error. */
const maxUnchangedPages = 10;

/**
 * Reads all items of a list of any resource by following the links to the next page. Items are not compared, so an item that
 * moved between pages may be returned twice. The result is undefined if the response at `path` is not a list. When the rate
 * limit is reached after the first page, `pause` waits.
 */
export async function fetchAllListItems(
  api: ApiClient,
  path: string,
  pause: DelayFunction,
): Promise<readonly unknown[] | undefined> {
  const items: unknown[] = [];
  const visited = new Set<string>();
  let [least, isFromStart, idle, before]: [number, boolean, number, string | undefined] = [0, false, 0, undefined];
  for (let next: string | undefined = path; next !== undefined; ) {
    const isFirst = visited.size === 0;
    if (visited.has(next))
      throw incompleteListError(path, items.length, undefined, `the page ${next} was returned twice`);
    visited.add(next);
    const page = await api.json({
      method: 'GET',
      path: next,
      rateLimitRetry: isFirst ? undefined : createRateLimitWaitFunction(pause),
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
