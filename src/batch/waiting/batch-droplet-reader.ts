import { type ApiResponse, toApiError } from '../../api/api-response.ts';
import { decodeDroplet } from '../../api/droplets.ts';
import { CliError } from '../../errors.ts';
import { isJsonRecord, type JsonRecord, tryParseJson } from '../../json.ts';
import { type DropletPage, dropletPageSize, fetchDropletPage } from '../lookup/scan-droplets.ts';
import type { RateLimitedSender } from '../sending/rate-limited-sender.ts';

/** Reads the droplets of a batch repeatedly with few requests. */
export interface BatchDropletReader {
  /**
   * Calls `onDroplet` for each droplet with one of the ids. Resolves with the ids that the server did not return; because a
   * list can be outdated, a droplet with such an id may exist.
   */
  poll(
    ids: readonly number[],
    onDroplet: (id: number, raw: JsonRecord) => void,
    signal: AbortSignal,
  ): Promise<readonly number[]>;
}

interface ReadPage extends DropletPage {
  /** The number of droplets of the batch on the page. */
  readonly seen: number;
}

/**
 * The number of droplets that may be read by id as long as the poller does not know which end of the list has new droplets.
 */
const fewDroplets = 2;
/**
 * The number of droplets of the batch that the page before the first page is assumed to have. Infinity, because a page at
 * the end of a list may have only a few of these droplets, and the next page many.
 */
const likelyMany = Number.POSITIVE_INFINITY;

/**
 * Reads droplets by id, or page by page from a list if that needs fewer requests. New droplets are at one end of the list: both
 * ends are tried, and pages are read from the end with the droplets until all were seen. @param tag a tag that all droplets of
 * the batch have
 */
export function createBatchDropletReader(lane: RateLimitedSender, tag: string | undefined): BatchDropletReader {
  // A server that ignores the filter returns additional droplets, which are skipped.
  let filter = tag === undefined ? '' : `tag_name=${encodeURIComponent(tag)}&`;
  /**
   * The number of page requests in the last poll that read pages. If fewer droplets than this number of pages are left, the
   * droplets are read by id.
   */
  let pageCost = 1;
  /** The number of the last page of the list; undefined unless an earlier poll found new droplets at the end of the list. */
  let lastPage: number | undefined;
  const pathOf = (page: number): string => `/v2/droplets?${filter}page=${page}&per_page=${dropletPageSize}`;

  return {
    async poll(ids, onDroplet, signal) {
      const unseen = new Set(ids);
      let requests = 0;
      const readPage = async (path: string): Promise<ReadPage> => {
        requests += 1;
        const page = await fetchDropletPage(lane, path, signal);
        let seen = 0;
        for (const { id, raw } of page.droplets) {
          if (!unseen.delete(id)) continue;
          seen += 1;
          onDroplet(id, raw);
        }
        return { ...page, seen };
      };
      /**
       * Resolves with false when reading by id needs fewer requests. @param seenBefore number of droplets of the batch on the
       * page before
       */
      const readNumbered = async (numbers: readonly number[], seenBefore: number): Promise<boolean> => {
        let seen = seenBefore;
        for (const [at, number] of numbers.entries()) {
          if (unseen.size === 0) return true;
          /**
           * One read of a page is cheaper than two reads by id. A page with two droplets suggests that the next page has two
           * as well.
           */
          if (seen < 2 && unseen.size <= numbers.length - at) return false;
          ({ seen } = await readPage(pathOf(number)));
        }
        return true;
      };
      const readLinked = async (first: string): Promise<boolean> => {
        const visited = new Set<string>();
        for (let at: string | undefined = first; at !== undefined && unseen.size > 0 && !visited.has(at); ) {
          visited.add(at);
          at = (await readPage(at)).next;
        }
        return true;
      };
      /** Resolves with false when the remaining droplets are to be read by id. */
      const readPages = async (): Promise<boolean> => {
        if (lastPage !== undefined) return readNumbered(range(lastPage, 1), likelyMany);
        const first = await readPage(pathOf(1));
        if (first.next === undefined || unseen.size === 0) return true;
        const pages = numberOfPages(first);
        if (pages === undefined) return readLinked(first.next);
        if (first.seen > 0) return readNumbered(range(2, pages), likelyMany);
        if (unseen.size <= fewDroplets) return readNumbered(range(2, pages), 0);
        const last = await readPage(pathOf(pages));
        if (last.seen === 0) return readNumbered(range(2, pages - 1), 0);
        lastPage = pages;
        return readNumbered(range(pages - 1, 2), likelyMany);
      };

      let isWhole = false;
      if (ids.length > pageCost) {
        isWhole = await readPages();
        if (isWhole && unseen.size === ids.length) [filter, lastPage] = ['', undefined];
      }
      const hasReadPages = requests > 0;
      for (const id of isWhole ? [] : [...unseen]) {
        requests += 1;
        const raw = await fetchDropletOrAction(lane, `/v2/droplets/${id}`, 'droplet', signal);
        if (raw === undefined) continue;
        unseen.delete(id);
        onDroplet(id, raw);
      }
      if (hasReadPages) pageCost = requests;
      return [...unseen];
    },
  };
}

/** Returns undefined when the link to the next page has no page number, or the server does not return the total. */
function numberOfPages({ next, total, droplets }: DropletPage): number | undefined {
  const number = new URL(next ?? '', 'http://localhost').searchParams.get('page');
  return number !== '2' || total === undefined || droplets.length === 0
    ? undefined
    : Math.ceil(total / droplets.length);
}

/** Generates the whole numbers from `first` to `last`, ascending or descending. */
function range(first: number, last: number): readonly number[] {
  const step = first <= last ? 1 : -1;
  return Array.from({ length: Math.abs(last - first) + 1 }, (_, at) => first + at * step);
}

/** Reads one droplet or action; returns undefined when it does not exist. */
export async function fetchDropletOrAction(
  lane: RateLimitedSender,
  path: string,
  key: 'droplet' | 'action',
  signal: AbortSignal,
): Promise<JsonRecord | undefined> {
  let response: ApiResponse;
  do {
    await lane.waitForTurn(signal);
    response = await lane.request({ method: 'GET', path, until: signal });
  } while (response.status === 429);
  if (response.status === 404) return undefined;
  if (response.status !== 200) throw toApiError(response, 'GET', path, lane.loginHints);
  const json = tryParseJson(response.text());
  const item = json.ok && isJsonRecord(json.value) ? json.value[key] : undefined;
  const isItem = isJsonRecord(item) && (key === 'action' || decodeDroplet(item) !== undefined);
  if (isItem) return item;
  throw new CliError('api_error', `could not parse the response of GET ${path}`, { status: response.status });
}
