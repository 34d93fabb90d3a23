import { type ApiResponse, toApiError } from '../../api/api-response.ts';
import { decodeDroplet } from '../../api/droplets.ts';
import { CliError } from '../../errors.ts';
import { isRecord, type JsonRecord, parseJson } from '../../json.ts';
import { type DropletPage, dropletPageSize, fetchDropletPage } from '../lookup/scan-droplets.ts';
import type { SendLane } from '../sending/send-lane.ts';

/** Reads the droplets of a batch again and again, with few requests. */
export interface DropletPoller {
  /**
   * Calls `onDroplet` for each droplet with one of the ids. Resolves with the ids that the server did not return; a list can
   * lag, so a droplet with such an id may exist.
   */
  poll(
    ids: readonly number[],
    onDroplet: (id: number, raw: JsonRecord) => void,
    signal: AbortSignal,
  ): Promise<readonly number[]>;
}

interface ReadPage extends DropletPage {
  /** Droplets on the page that were awaited. */
  readonly seen: number;
}

/** So few droplets are read by id before it is known at which end of the list they are. */
const fewDroplets = 2;
/** The page at the end of a list may have only a few of the droplets that the next one has. */
const likelyMany = Number.POSITIVE_INFINITY;

/**
 * Reads droplets by id, or on the pages of a list where these are fewer. New droplets are at one end of the list: both ends are
 * tried, and pages are read from there until all droplets were seen.
 * @param tag all droplets of the batch have it
 */
export function createDropletPoller(lane: SendLane, tag: string | undefined): DropletPoller {
  // A server that ignores the filter returns more droplets, which does no harm.
  let filter = tag === undefined ? '' : `tag_name=${encodeURIComponent(tag)}&`;
  /** Requests of the last poll that read pages. Fewer droplets are read by id. */
  let pageCost = 1;
  /** Number of the last page, when the droplets were at the end of the list. */
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
      /** Resolves with false when reads by id are fewer. @param seenBefore awaited droplets on the page before */
      const readNumbered = async (numbers: readonly number[], seenBefore: number): Promise<boolean> => {
        let seen = seenBefore;
        for (const [at, number] of numbers.entries()) {
          if (unseen.size === 0) return true;
          // A page with two awaited droplets is worth more than a read by id, and the next one is likely to be like it.
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
      /** Resolves with false when the droplets that were not seen are to be read by id. */
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
        const raw = await readDropletOrAction(lane, `/v2/droplets/${id}`, 'droplet', signal);
        if (raw === undefined) continue;
        unseen.delete(id);
        onDroplet(id, raw);
      }
      if (hasReadPages) pageCost = requests;
      return [...unseen];
    },
  };
}

/** Undefined when pages have no numbers, or the server does not return how many droplets there are. */
function numberOfPages({ next, total, droplets }: DropletPage): number | undefined {
  const number = new URL(next ?? '', 'http://localhost').searchParams.get('page');
  return number !== '2' || total === undefined || droplets.length === 0
    ? undefined
    : Math.ceil(total / droplets.length);
}

/** Whole numbers from `first` to `last`, upwards or downwards. */
function range(first: number, last: number): readonly number[] {
  const step = first <= last ? 1 : -1;
  return Array.from({ length: Math.abs(last - first) + 1 }, (_, at) => first + at * step);
}

/** One droplet or action; undefined when it does not exist. */
export async function readDropletOrAction(
  lane: SendLane,
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
  const json = parseJson(response.text());
  const item = json.ok && isRecord(json.value) ? json.value[key] : undefined;
  const isItem = isRecord(item) && (key === 'action' || decodeDroplet(item) !== undefined);
  if (isItem) return item;
  throw new CliError('api_error', `could not parse the response of GET ${path}`, { status: response.status });
}
