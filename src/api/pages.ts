import { CliError } from '../errors.ts';
import { isRecord, numberOf, textOf } from '../json.ts';
import type { Api } from './client.ts';

export interface ListRequest<T> {
  /** Path without `page` and `per_page`; may carry other parameters. */
  readonly path: string;
  /** The key that holds the items. */
  readonly key: string;
  readonly decode: (item: unknown) => T | undefined;
  readonly idOf: (item: T) => string | number;
  /** 1 to 200. */
  readonly pageSize: number;
}

/** Pages without anything new before a list that never ends is given up. */
const emptyPages = 10;

interface Page {
  readonly items: readonly unknown[];
  readonly total: number | undefined;
  /** Path and query of the next page. */
  readonly next: string | undefined;
}

/**
 * Every item of a list, page after page, the next page asked for while this one is used.
 * Items that move to a later page while we read come once. Fewer items than `meta.total` at the end is an error, never silence.
 */
export async function* listAll<T>(api: Api, list: ListRequest<T>): AsyncGenerator<T> {
  const seen = new Set<string | number>();
  const start = new URL(list.path, api.baseOrigin);
  start.searchParams.set('page', '1');
  start.searchParams.set('per_page', String(list.pageSize));
  let ahead: Promise<Page> | undefined = fetchPage(api, list.key, `${start.pathname}${start.search}`);
  const visited = new Set<string>();
  let total: number | undefined;
  let empty = 0;
  while (ahead !== undefined) {
    const page: Page = await ahead;
    total = page.total;
    const { next } = page;
    if (next !== undefined && visited.has(next))
      throw incomplete(list.path, seen.size, total, `the page ${next} came twice`);
    if (next !== undefined) visited.add(next);
    ahead = next === undefined ? undefined : fetchPage(api, list.key, next);
    // If the reader stops early, nobody awaits the page that was asked for ahead: its failure must not end the program.
    ahead?.catch(() => undefined);
    const before = seen.size;
    for (const raw of page.items) {
      const item = list.decode(raw);
      if (item === undefined)
        throw new CliError('api_error', `could not read ${list.path}: an item of "${list.key}" is not understood`);
      const id = list.idOf(item);
      if (seen.has(id)) continue;
      seen.add(id);
      yield item;
    }
    empty = seen.size > before ? 0 : empty + 1;
    if (empty >= emptyPages && next !== undefined)
      throw incomplete(list.path, seen.size, total, `${emptyPages} pages in a row brought nothing new`);
  }
  if (total !== undefined && seen.size < total)
    throw incomplete(list.path, seen.size, total, 'the pages held fewer items than meta.total');
}

async function fetchPage(api: Api, key: string, path: string): Promise<Page> {
  const json = await api.json({ method: 'GET', path });
  const items = isRecord(json) ? json[key] : undefined;
  if (!isRecord(json) || !Array.isArray(items)) {
    throw new CliError('api_error', `could not read ${path.split('?')[0]}: the answer has no list "${key}"`, {
      hint: 'check base_url with `cloudctl config list`',
    });
  }
  const meta = isRecord(json.meta) ? json.meta : {};
  return { items, total: numberOf(meta, 'total'), next: nextPath(api.baseOrigin, json.links) };
}

/** `links.pages.next`, followed only on the base origin. */
export function nextPath(baseOrigin: string, links: unknown): string | undefined {
  const pages = isRecord(links) && isRecord(links.pages) ? links.pages : {};
  const next = textOf(pages, 'next');
  if (next === undefined || next === '') return undefined;
  const url = URL.canParse(next, baseOrigin) ? new URL(next, baseOrigin) : undefined;
  if (url === undefined || url.origin !== baseOrigin) {
    throw new CliError('api_error', 'could not read the next page: its link leaves the base origin', {
      detail: `${url?.origin ?? 'not a URL'} is not ${baseOrigin}; the token was not sent there`,
    });
  }
  return `${url.pathname}${url.search}`;
}

/** The error of a list that ended before it was whole. */
export function incomplete(path: string, got: number, total: number | undefined, why: string): CliError {
  return new CliError(
    'incomplete_list',
    `could not read all of ${path}: ${got} of ${total ?? 'an unknown number'} items`,
    {
      detail: why,
      hint: 'run the command again',
    },
  );
}
