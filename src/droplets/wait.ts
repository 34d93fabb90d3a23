import { readAction } from '../api/actions.ts';
import { type Droplet, dropletPageSize, publicAddress, readDroplet, readDropletPage } from '../api/droplets.ts';
import { ifFound, type ListPage, maxPages } from '../api/list.ts';
import { CliError } from '../base/errors.ts';
import { type JsonRecord, readStringField } from '../base/json.ts';
import { formatDuration } from '../base/text.ts';
import type { Clock } from '../platform/host.ts';
import type { Run } from './io.ts';
import { type Lane, readerOf } from './lane.ts';
import { exclusiveTag } from './match.ts';
import type { BatchState, Counts, Row } from './state.ts';

interface WaitOptions {
  /** `--wait-timeout` in milliseconds. */
  readonly timeout: number;
  readonly results: WaitResults;
  /** Called after each poll for the state of the droplets. @param ended names of droplets that are active or cannot become active */
  readonly onPoll: (active: number, total: number, ended: readonly string[]) => Promise<void>;
}

/**
 * The number of requests per minute that a wait sends at most, however many droplets it waits for: a tenth of the limit of the
 * public API.
 */
const requestsPerWindow = 25;
/** The maximum number of droplets that one poll reads by id because the lists did not contain them. */
const maxConfirmations = 25;
/** The number of consecutive polls that may fail, or may lack a droplet, before the wait ends. */
const maxMisses = 5;
/** After this number of polls, each further poll also reads one create action of a droplet that is not active yet. */
const pollsUntilActions = 3;

interface WaitingDroplet {
  readonly name: string;
  readonly action: string | undefined;
  misses: number;
}

/**
 * Waits until no droplet of the batch has the status `new`, also of those that were skipped. The more requests a poll needs, the longer is the interval before
 * the next one. Adds IP addresses and failures to `results`. Throws `timeout` (exit code 5) when droplets are not active within
 * the time limit.
 */
export async function waitUntilActive(run: Run, { timeout, results, onPoll }: WaitOptions): Promise<void> {
  const { clock, times, ending } = run;
  const { state } = run.ledger;
  const { lane, sent } = limitLane(run.lane, clock, { requests: requestsPerWindow, window: times.pollWindow });
  const waiting = new Map<string, WaitingDroplet>();
  let [total, isTagged] = [0, true];
  for (const row of state.rows()) {
    if ((row.status !== 'created' && row.status !== 'skipped') || row.id === undefined) continue;
    if (results.missing.has(row.id)) continue;
    total += 1;
    if (results.failures.has(row.id) || results.addresses.has(row.id)) continue;
    waiting.set(row.id, { name: row.name, action: row.status === 'created' ? row.action_id : undefined, misses: 0 });
    // Skipped droplets need not have the tag of the batch.
    isTagged &&= row.status === 'created';
  }
  let ended: string[] = [];
  const end = (id: string, failure?: string): void => {
    ended.push(waiting.get(id)?.name ?? '');
    waiting.delete(id);
    if (failure !== undefined) results.failures.set(id, failure);
  };
  const deadline = startDeadline(clock, timeout);
  const signal = AbortSignal.any([ending, deadline.signal]);
  const poller = createPoller(lane, isTagged ? exclusiveTag(state.batch) : undefined);
  const applyDroplet = (id: string, raw: JsonRecord): void => {
    const one = waiting.get(id);
    if (one === undefined) return;
    one.misses = 0;
    if (readStringField(raw, 'status') === 'new') return;
    const address = publicAddress(raw);
    if (address !== undefined) results.addresses.set(id, address);
    end(id);
  };
  const poll = async (number: number): Promise<void> => {
    let confirmations = 0;
    for (const id of await poller.poll([...waiting.keys()], applyDroplet, signal)) {
      const one = waiting.get(id);
      if (one === undefined) continue;
      one.misses += 1;
      if (one.misses < maxMisses || confirmations === maxConfirmations) continue;
      confirmations += 1;
      // A list can be outdated, so the droplet is read by its id.
      const droplet = await readDroplet(readerOf(lane, signal), id);
      if (droplet !== undefined) applyDroplet(id, droplet.raw);
      else if (await hasActionFailed(lane, one.action, signal)) end(id, actionFailure(one.action));
      else end(id, `droplet ${id} was deleted`);
    }
    /**
     * Each poll reads one create action. The droplet is moved to the end of the queue, so that the next poll reads the
     * action of another droplet.
     */
    const [next] = waiting;
    if (next === undefined || number < pollsUntilActions) return;
    const [id, one] = next;
    waiting.delete(id);
    waiting.set(id, one);
    if (await hasActionFailed(lane, one.action, signal)) end(id, actionFailure(one.action));
  };
  try {
    if (waiting.size > 0) await clock.sleep(times.firstPoll, signal);
    for (let number = 1, failures = 0; waiting.size > 0; number++) {
      ending.throwIfAborted();
      const [startedAt, sentBefore] = [clock.now(), sent()];
      try {
        await poll(number);
        failures = 0;
      } catch (error) {
        failures += 1;
        if (!(error instanceof CliError) || error.exitCode === 4 || failures >= maxMisses) throw error;
      }
      const done = ended;
      ended = [];
      await onPoll(total - waiting.size - results.failures.size, total, done);
      const share = ((sent() - sentBefore) * times.pollWindow) / requestsPerWindow;
      const pause = Math.max(times.pollInterval, share - (clock.now() - startedAt));
      if (waiting.size > 0) await clock.sleep(pause, signal);
    }
  } catch (error) {
    if (!deadline.signal.aborted || ending.aborted) throw error;
    throw notActiveError(
      [...waiting.values()].map(({ name }) => name),
      total,
      timeout,
    );
  } finally {
    deadline.close();
  }
}

interface Budget {
  /** The number of requests that are allowed within `window` milliseconds. */
  readonly requests: number;
  readonly window: number;
}

/** The number of additional attempts that the API client makes before a request counts as failed. */
const attemptsOfFailure = 2;

/**
 * Wraps a send lane with an additional rate limit: within each time window it sends at most the number of requests in the
 * budget, and counts them. The lane sends only one request at a time.
 */
export function limitLane(
  lane: Lane,
  clock: Clock,
  { requests, window }: Budget,
): { readonly lane: Lane; readonly sent: () => number } {
  /** The times at which the latest requests were sent or answered, oldest first. */
  let times: number[] = [];
  let sent = 0;
  const takeTurn = async (signal: AbortSignal): Promise<void> => {
    const oldest = times.at(-requests);
    /**
     * If the system clock was set back, the computed wait would be too long, so the wait is limited to one rate limit
     * window.
     */
    const wait = oldest === undefined ? 0 : Math.min(window, oldest + window - clock.now());
    if (wait > 0) await clock.sleep(wait, signal);
    await lane.waitForTurn(signal);
    times = [...times.slice(1 - requests), clock.now()];
  };
  const countFailure = (): void => {
    for (let attempt = 0; attempt < attemptsOfFailure; attempt++) times = [...times.slice(1 - requests), clock.now()];
  };
  const limited: Lane = {
    ...lane,
    waitForTurn: takeTurn,
    async request(request) {
      sent += 1;
      try {
        const response = await lane.request(request);
        // A server counts a request when it arrives, which is later than the time at which it was sent.
        times = [...times.slice(0, -1), clock.now()];
        if (response.status >= 500) countFailure();
        return response;
      } catch (error) {
        countFailure();
        throw error;
      }
    },
  };
  return { lane: limited, sent: () => sent };
}

function startDeadline(clock: Clock, ms: number): { readonly signal: AbortSignal; readonly close: () => void } {
  const [over, closed] = [new AbortController(), new AbortController()];
  clock.sleep(ms, closed.signal).then(
    () => over.abort(),
    () => {},
  );
  return { signal: over.signal, close: () => closed.abort() };
}

async function hasActionFailed(lane: Lane, action: string | undefined, signal: AbortSignal): Promise<boolean> {
  if (action === undefined) return false;
  const found = await ifFound(readAction(readerOf(lane, signal), action));
  return found?.status === 'errored';
}

function actionFailure(action: string | undefined): string {
  return `create action ${action} has the status errored`;
}

function notActiveError(names: readonly string[], total: number, timeout: number): CliError {
  const more = names.length > 20 ? ` and ${names.length - 20} more` : '';
  return new CliError(
    'timeout',
    `${names.length} of ${total} droplets are not active after ${formatDuration(timeout)}`,
    {
      detail: `${names.slice(0, 20).join(', ')}${more}`,
      exitCode: 5,
    },
  );
}

/** Reads the droplets of a batch repeatedly with few requests. */
interface Poller {
  /**
   * Calls `onDroplet` for each droplet with one of the ids. Resolves with the ids that the server did not return; because a
   * list can be outdated, a droplet with such an id may exist.
   */
  poll(
    ids: readonly string[],
    onDroplet: (id: string, raw: JsonRecord) => void,
    signal: AbortSignal,
  ): Promise<readonly string[]>;
}

interface ReadPage extends ListPage<Droplet> {
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
export function createPoller(lane: Lane, tag: string | undefined): Poller {
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
        const page = await readDropletPage(readerOf(lane, signal), path);
        let seen = 0;
        for (const { id, raw } of page.items) {
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
          if (visited.size === maxPages) return false;
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
        const droplet = await readDroplet(readerOf(lane, signal), id);
        if (droplet === undefined) continue;
        unseen.delete(id);
        onDroplet(id, droplet.raw);
      }
      if (hasReadPages) pageCost = requests;
      return [...unseen];
    },
  };
}

/** Returns undefined when the link to the next page has no page number, or the server returns no total, or one of no list. */
function numberOfPages({ next, total, items }: ListPage<Droplet>): number | undefined {
  const number = new URL(next ?? '', 'http://localhost').searchParams.get('page');
  if (number !== '2' || total === undefined || items.length === 0) return undefined;
  const pages = Math.ceil(total / items.length);
  return pages > maxPages ? undefined : pages;
}

/** Generates the whole numbers from `first` to `last`, ascending or descending. */
function range(first: number, last: number): readonly number[] {
  const step = first <= last ? 1 : -1;
  return Array.from({ length: Math.abs(last - first) + 1 }, (_, at) => first + at * step);
}

/** The results of `--wait`, by droplet id. In the ledger these droplets keep the status `created` or `skipped`. */
export interface WaitResults {
  readonly addresses: Map<string, string>;
  /** The reason why a droplet cannot become active: it was deleted, or its create action failed. */
  readonly failures: Map<string, string>;
  /** Ids of droplets of a complete ledger that do not exist any more. */
  missing: ReadonlySet<string>;
}

export function createWaitResults(): WaitResults {
  return { addresses: new Map(), failures: new Map(), missing: new Set() };
}

/** The row of a droplet that the ledger lists and that does not exist any more. */
interface MissingRow {
  readonly name: string;
  readonly status: 'missing';
  readonly id: string;
  readonly error: string;
  readonly ledger?: string;
}

export type PrintedRow = Row | MissingRow;

/**
 * Adds the IP address of the droplet to the row; the row becomes `failed` when the droplet cannot become active, and `missing`
 * when it does not exist any more.
 */
export function rowAfterWait(row: Row, { addresses, failures, missing }: WaitResults): PrintedRow {
  if ('id' in row && row.id !== undefined && missing.has(row.id))
    return { name: row.name, status: 'missing', id: row.id, error: 'the droplet does not exist any more' };
  if ((row.status !== 'created' && row.status !== 'skipped') || row.id === undefined) return row;
  const error = failures.get(row.id);
  if (error !== undefined) return { name: row.name, status: 'failed', id: row.id, error };
  const address = addresses.get(row.id);
  return address === undefined ? row : { ...row, public_ipv4: address };
}

export function countsAfterWait(state: Pick<BatchState, 'counts' | 'rows'>, { failures }: WaitResults): Counts {
  const counts = state.counts();
  if (failures.size === 0) return counts;
  const lost = [...state.rows()].filter((row) => row.status === 'skipped' && failures.has(row.id ?? '')).length;
  return {
    ...counts,
    created: counts.created - (failures.size - lost),
    skipped: counts.skipped - lost,
    failed: counts.failed + failures.size,
  };
}
