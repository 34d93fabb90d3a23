import { CliError } from '../base/errors.ts';
import { parseExactJsonOrThrow, stringifyExact } from '../base/exact.ts';
import {
  isJsonRecord,
  type JsonRecord,
  readNumberField,
  readStringField,
  tryParseExactJson,
  tryParseJson,
} from '../base/json.ts';
import type { BufferedResponseBody } from '../platform/buffered-response-body.ts';
import { type ApiResponse, notJsonError } from './api-response.ts';
import type { JsonListSplitter } from './json-list-splitter.ts';

/** One page of a list of the resource API. */
export interface ListPage {
  /** The items of the page; they have only the requested members if the page could be split without parsing all of it. */
  readonly partialItems: readonly unknown[];
  /** The item at a position of the page, with all members. */
  readonly item: (at: number) => unknown;
  /** The items at these positions as JSON texts, one item per line. */
  readonly lines: (places: readonly number[]) => Uint8Array;
  /** `meta.total` */
  readonly total: number | undefined;
  /** Path and query of the next page of the list. */
  readonly next: string | undefined;
  /** The time of the response by the server's clock, in milliseconds since the epoch. */
  readonly date: number | undefined;
}

/** Parses the response to a list request. @param splitter finds the items under `key` */
export function parseListPage(
  baseOrigin: string,
  { key, path }: ApiListEndpoint,
  response: ApiResponse,
  splitter: JsonListSplitter,
): ListPage {
  const split = splitItems(response.raw.bytes(), splitter);
  const json = response.raw.size === 0 ? undefined : tryParseExactJson(split?.rest ?? response.text());
  const [plainPath = path] = path.split('?');
  if (json?.ok === false) throw notJsonError(response, 'GET', plainPath, json);
  const page = json?.value;
  const list = isJsonRecord(page) ? page[key] : undefined;
  if (!isJsonRecord(page) || !Array.isArray(list)) {
    throw new CliError('api_error', `could not read ${plainPath}: the response has no list "${key}"`, {
      hint: 'check base_url with `cloudctl config list`',
    });
  }
  const { partialItems, item, lines } = split ?? parsedItems(list);
  return {
    partialItems,
    item,
    lines,
    total: readListTotal(page),
    next: nextPagePath(baseOrigin, page.links, path),
    date: response.date,
  };
}

export interface ApiListEndpoint {
  readonly key: string;
  readonly path: string;
}

/**
 * Reads path and query of the next page from the last bytes of this page, where lists usually have their links; undefined also
 * when the links are elsewhere. The text after the last `"links":` is valid JSON up to the end only if `links` is a member of
 * the outermost object, so the result is the same as after parsing the whole page.
 */
export function readNextPagePathFromTail(
  baseOrigin: string,
  body: BufferedResponseBody,
  path: string,
): string | undefined {
  const tail = body.end(maxTailLength);
  const at = tail.lastIndexOf('"links":');
  const json = at === -1 ? undefined : tryParseJson(`{${tail.toString('utf8', at)}`);
  return json?.ok === true && isJsonRecord(json.value) ? nextPagePath(baseOrigin, json.value.links, path) : undefined;
}

const maxTailLength = 4096;

type ListItems = Pick<ListPage, 'partialItems' | 'item' | 'lines'>;

function splitItems(bytes: Buffer, splitter: JsonListSplitter): (ListItems & { rest: string }) | undefined {
  const split = splitter(bytes);
  if (split === undefined) return undefined;
  const { spans, partialItems, rest } = split;
  const span = (at: number): readonly [number, number] => [spans[2 * at] ?? 0, spans[2 * at + 1] ?? 0];
  return {
    partialItems,
    item: (at) => parseExactJsonOrThrow(bytes.toString('utf8', ...span(at))),
    lines: (places) => linesOf(bytes, places.map(span)),
    rest,
  };
}

/** The items of a page that could not be split and was parsed as a whole. */
function parsedItems(list: readonly unknown[]): ListItems {
  return {
    partialItems: list,
    item: (at) => list[at],
    lines: (places) => Buffer.from(places.map((at) => `${stringifyExact(list[at])}\n`).join('')),
  };
}

/** The separators between adjacent items are overwritten with line breaks, so the bytes of the page are not copied. */
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
