import { CliError } from '../errors.ts';
import { isRecord, numberOf, parseJson, textOf } from '../json.ts';
import type { Api } from './client.ts';
import { splitList } from './split-list.ts';

/** One page of a list, as one answer of the server has it. */
export interface Page {
  /** Its items as JSON texts, each on one line. */
  readonly texts: readonly string[];
  /** `meta.total` */
  readonly total: number | undefined;
  /** Path and query of the next page. */
  readonly next: string | undefined;
  /** The server's time of the answer, in milliseconds since the epoch. */
  readonly date: number | undefined;
}

/** Reads one page; `key` is what holds its items. */
export async function fetchPage(api: Api, key: string, path: string): Promise<Page> {
  let date: number | undefined;
  let texts: readonly string[] = [];
  const json = await api.json({ method: 'GET', path }, (answer) => {
    date = answer.date;
    const split = splitList(answer.body, key);
    texts = split?.texts ?? [];
    return parseJson(split?.rest ?? answer.body);
  });
  const items = isRecord(json) ? json[key] : undefined;
  if (!isRecord(json) || !Array.isArray(items)) {
    throw new CliError('api_error', `could not read ${path.split('?')[0]}: the answer has no list "${key}"`, {
      hint: 'check base_url with `cloudctl config list`',
    });
  }
  const meta = isRecord(json.meta) ? json.meta : {};
  return {
    // A list that could not be taken apart, or holds more than objects, is taken as it was parsed.
    texts: texts.length === items.length ? texts : items.map((item) => JSON.stringify(item)),
    total: numberOf(meta, 'total'),
    next: nextPath(api.baseOrigin, json.links),
    date,
  };
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
