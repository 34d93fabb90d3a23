import { CliError } from '../errors.ts';
import { parseExact, stringifyExact } from '../exact.ts';
import { isRecord, type JsonRecord, numberField, parseExactJson, parseJson, stringField } from '../json.ts';
import type { BufferedBody } from '../platform/buffered-body.ts';
import { type ApiResponse, notJsonError } from './api-response.ts';
import type { ListSplitter } from './split-list.ts';

/** One page of a list, as one answer of the server has it. */
export interface ListPage {
  /** Its items, with those of their members alone that were asked for where the page could be taken apart. */
  readonly partialItems: readonly unknown[];
  /** The whole item at that place. */
  readonly item: (at: number) => unknown;
  /** The items at these places as JSON texts, each on a line of its own. */
  readonly lines: (places: readonly number[]) => Uint8Array;
  /** `meta.total` */
  readonly total: number | undefined;
  /** Path and query of the next page. */
  readonly next: string | undefined;
  /** The server's time of the answer, in milliseconds since the epoch. */
  readonly date: number | undefined;
}

/** Understands the answer to a request for `path`; `key` is what holds its items, `splitter` takes them out. */
export function parseListPage(
  baseOrigin: string,
  { key, path }: ListPageSource,
  answer: ApiResponse,
  splitter: ListSplitter,
): ListPage {
  const split = splitItems(answer.raw.bytes(), splitter);
  const json = answer.raw.size === 0 ? undefined : parseExactJson(split?.rest ?? answer.text());
  const [plainPath = path] = path.split('?');
  if (json?.ok === false) throw notJsonError(answer, 'GET', plainPath);
  const page = json?.value;
  const list = isRecord(page) ? page[key] : undefined;
  if (!isRecord(page) || !Array.isArray(list)) {
    throw new CliError('api_error', `could not read ${plainPath}: the answer has no list "${key}"`, {
      hint: 'check base_url with `cloudctl config list`',
    });
  }
  const { partialItems: skims, item, lines } = split ?? parsedItems(list);
  return {
    partialItems: skims,
    item,
    lines,
    total: listTotal(page),
    next: nextPagePath(baseOrigin, page.links, path),
    date: answer.date,
  };
}

export interface ListPageSource {
  readonly key: string;
  readonly path: string;
}

/**
 * The next page, told from the last bytes of this one, where a list usually has its links; undefined also when they stand
 * elsewhere. What follows the last `"links":` is an object's end only if that was a name of the outermost object: no page
 * that can be read has another next one.
 */
export function nextPathFromTail(baseOrigin: string, body: BufferedBody, path: string): string | undefined {
  const tail = body.end(maxTailLength);
  const at = tail.lastIndexOf('"links":');
  const json = at === -1 ? undefined : parseJson(`{${tail.toString('utf8', at)}`);
  return json?.ok === true && isRecord(json.value) ? nextPagePath(baseOrigin, json.value.links, path) : undefined;
}

const maxTailLength = 4096;

type ListItems = Pick<ListPage, 'partialItems' | 'item' | 'lines'>;

function splitItems(bytes: Buffer, splitter: ListSplitter): (ListItems & { rest: string }) | undefined {
  const split = splitter(bytes);
  if (split === undefined) return undefined;
  const { spans, partialItems: skims, rest } = split;
  const span = (at: number): readonly [number, number] => [spans[2 * at] ?? 0, spans[2 * at + 1] ?? 0];
  return {
    partialItems: skims,
    item: (at) => parseExact(bytes.toString('utf8', ...span(at))),
    lines: (places) => linesOf(bytes, places.map(span)),
    rest,
  };
}

/** A list that could not be taken apart, or holds more than objects, is taken as it was parsed. */
function parsedItems(list: readonly unknown[]): ListItems {
  return {
    partialItems: list,
    item: (at) => list[at],
    lines: (places) => Buffer.from(places.map((at) => `${stringifyExact(list[at])}\n`).join('')),
  };
}

/** Items that stand side by side stay where they are, and what parts them becomes a line break. */
function linesOf(bytes: Buffer, spans: readonly (readonly [number, number])[]): Uint8Array {
  const [first, last] = [spans[0], spans.at(-1)];
  if (
    first !== undefined &&
    last !== undefined &&
    spans.every(([, end], at) => (spans[at + 1]?.[0] ?? end + 1) === end + 1)
  ) {
    for (const [, end] of spans) bytes[end] = lineBreak;
    return bytes.subarray(first[0], last[1] + 1);
  }
  return Buffer.concat(spans.flatMap(([from, end]) => [bytes.subarray(from, end), Buffer.from('\n')]));
}

const lineBreak = 0x0a;

/** `meta.total`; digits in quotes are one as well, which a list must not go without. */
export function listTotal({ meta }: JsonRecord): number | undefined {
  if (!isRecord(meta)) return undefined;
  const text = stringField(meta, 'total');
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : numberField(meta, 'total');
}

/** `links.pages.next` of the page at `path`, followed only on the base origin. A relative one begins where that page is (RFC 3986 §5.1.3). */
export function nextPagePath(baseOrigin: string, links: unknown, path: string): string | undefined {
  const pages = isRecord(links) && isRecord(links.pages) ? links.pages : {};
  const next = pages.next || '';
  if (next === '') return undefined;
  const here = `${baseOrigin}${path}`;
  const url = typeof next === 'string' && URL.canParse(next, here) ? new URL(next, here) : undefined;
  // A list whose next page is not understood has one all the same: this is not its end.
  if (url === undefined)
    throw new CliError('api_error', 'could not read the next page: its link is not a URL', {
      detail: `links.pages.next is ${typeof next === 'string' ? `"${next.slice(0, 200)}"` : `no text, but ${stringifyExact(next)?.slice(0, 200)}`}`,
    });
  if (url.origin !== baseOrigin) {
    throw new CliError('api_error', 'could not read the next page: its link leaves the base origin', {
      detail: `${url.origin} is not ${baseOrigin}; the token was not sent there`,
    });
  }
  return `${url.pathname}${url.search}`;
}

/** The error of a list that ended before it was whole. */
export function incompleteListError(path: string, got: number, total: number | undefined, why: string): CliError {
  return new CliError(
    'incomplete_list',
    `could not read all of ${path}: ${got} of ${total ?? 'an unknown number'} items`,
    {
      detail: why,
      hint: 'run the command again',
    },
  );
}
