import { CliError } from '../errors.ts';
import { stringifyExact } from '../exact.ts';
import { isRecord, type JsonRecord } from '../json.ts';
import type { Api } from './client.ts';
import { incompleteListError, listTotal, nextPagePath } from './list-page.ts';
import { createRateLimitRetry, type Pause } from './rate-limit-retry.ts';

/** Pages without anything new before a list that never ends is given up. */
const maxUnchangedPages = 10;

/**
 * The items of a list of anything, by its links alone: nothing is known of an item, so one that moved while the list was
 * read may be there twice. undefined: what is at `path` is no list. Once begun it waits for the rate limit with `pause`.
 */
export async function fetchAllItems(api: Api, path: string, pause: Pause): Promise<readonly unknown[] | undefined> {
  const items: unknown[] = [];
  const visited = new Set<string>();
  let [least, isFromStart, idle, before]: [number, boolean, number, string | undefined] = [0, false, 0, undefined];
  for (let next: string | undefined = path; next !== undefined; ) {
    const isFirst = visited.size === 0;
    if (visited.has(next)) throw incompleteListError(path, items.length, undefined, `the page ${next} came twice`);
    visited.add(next);
    const page = await api.json({
      method: 'GET',
      path: next,
      rateLimitRetry: isFirst ? undefined : createRateLimitRetry(pause),
    });
    const list = findList(page);
    if (!isRecord(page) || list === undefined) {
      if (isFirst) return undefined;
      throw new CliError('api_error', `could not read all of ${path}: a page is no list`, {
        detail: `${items.length} items were on the pages before it`,
        hint: 'run the command again',
      });
    }
    for (const item of list) items.push(item);
    const total = listTotal(page);
    if (isFirst) isFromStart = isFirstPage(page, path);
    if (total !== undefined) least = isFirst ? total : Math.min(least, total);
    const text = stringifyExact(list);
    idle = list.length === 0 || text === before ? idle + 1 : 0;
    before = text;
    next = nextPagePath(api.baseOrigin, page.links, next);
    if (idle === maxUnchangedPages && next !== undefined)
      throw incompleteListError(path, items.length, total, `${maxUnchangedPages} pages in a row brought nothing new`);
  }
  // Whatever others create and delete meanwhile, all pages together have as many places as the lowest total says.
  if (isFromStart && items.length < least)
    throw incompleteListError(path, items.length, least, 'the pages held fewer items than meta.total');
  return items;
}

function findList(page: unknown): readonly unknown[] | undefined {
  if (!isRecord(page)) return undefined;
  for (const [key, value] of Object.entries(page))
    if (key !== 'links' && key !== 'meta' && Array.isArray(value)) return value;
  return undefined;
}

/** Of a list that is read from its middle on, the total tells nothing. */
function isFirstPage({ links }: JsonRecord, path: string): boolean {
  const page = new URLSearchParams(path.split('?')[1]).get('page');
  const hasPrevious = isRecord(links) && isRecord(links.pages) && typeof links.pages.prev === 'string';
  return !hasPrevious && (page === null || page === '1');
}
