import { type Droplet, dropletPageSize, hasTag, readDropletPage } from '../api/droplets.ts';
import { type ListPage, requireEnd } from '../api/list.ts';
import { type Lane, readerOf } from './lane.ts';

interface Query {
  readonly names: readonly string[];
  readonly has: (name: string) => boolean;
  /** Droplets with these names that a scan leaves out, so that it does not keep thousands of them in memory. */
  readonly isKnown?: (droplet: Droplet) => boolean;
  /** Restricts the lookup to droplets with this tag, compared without case. */
  readonly tag?: string | undefined;
}

/**
 * Looks droplets up by name in the way that needs the fewest requests: `?name=` for each name, `?tag_name=`, or all pages of
 * the list.
 */
export interface Finder {
  find(query: Query, signal: AbortSignal): Promise<Found>;
}

const maxConcurrentLookups = 4;

export function createFinder(lane: Lane): Finder {
  /** False after a response that contains a droplet with another name, which shows that the server ignores `?name=`. */
  let isNameFilterSupported = true;
  /** False after a response that contains a droplet without the tag, which shows that the server ignores `?tag_name=`. */
  let isTagFilterSupported = true;
  /** The number of names that are currently looked up with `?name=`. */
  let namesInProgress = 0;
  const limited = limitConcurrency(maxConcurrentLookups);
  const fullScan = createScan(lane, undefined);
  const tagScans = new Map<string, Scan>();

  const byName = async (names: readonly string[], signal: AbortSignal): Promise<Found | undefined> => {
    const droplets = new Map<string, readonly Droplet[]>();
    const queue = [...names];
    let [conclusive, hasTotal] = [true, true];
    const work = async (): Promise<void> => {
      for (let name = queue.shift(); name !== undefined && isNameFilterSupported; name = queue.shift()) {
        const wantedName = name;
        const path = `/v2/droplets?name=${encodeURIComponent(wantedName)}&page=1&per_page=${dropletPageSize}`;
        const page = await limited(() => readDropletPage(readerOf(lane, signal), path));
        // A server may compare names without case.
        const isOther = (droplet: Droplet): boolean => droplet.name.toLowerCase() !== wantedName.toLowerCase();
        if (page.items.some(isOther)) isNameFilterSupported = false;
        hasTotal &&= page.total !== undefined;
        conclusive &&= page.total === new Set(page.items.map(({ id }) => id)).size;
        const found = page.items.filter((droplet) => droplet.name === wantedName);
        droplets.set(name, found);
      }
    };
    namesInProgress += names.length;
    try {
      await Promise.all(Array.from({ length: Math.min(maxConcurrentLookups, names.length) }, work));
    } finally {
      namesInProgress -= names.length;
    }
    return isNameFilterSupported ? { conclusive, hasTotal, droplets } : undefined;
  };

  /** The number of requests for looking up these names with `?name=`. */
  const costByName = (count: number): number =>
    isNameFilterSupported ? namesInProgress + count : Number.POSITIVE_INFINITY;

  const findAll = async (query: Query, signal: AbortSignal): Promise<Found> => {
    const { names } = query;
    // While the number of pages is unknown, a single name is looked up with one request; for more names, the first page of the
    // list is read to decide.
    if (costByName(names.length) < (fullScan.pages() ?? 2)) {
      const result = await byName(names, signal);
      if (result !== undefined) return result;
    }
    const isWorthwhile = (left: number, count: number): boolean => left <= costByName(count);
    const scan = (): Promise<ScanOutcome> => fullScan.find({ ...query, isWorthwhile }, signal);
    let scanned = await scan();
    // For many more names than pages, a second scan of the list needs fewer requests than looking up the names.
    const isScanCheap = costByName(names.length) > 2 * (fullScan.pages() ?? Number.POSITIVE_INFINITY);
    if (typeof scanned === 'object' && !scanned.conclusive && isNameFilterSupported && isScanCheap)
      scanned = await scan();
    if (typeof scanned === 'object' && (scanned.conclusive || !isNameFilterSupported)) return scanned;
    // A scan is inconclusive when other users create or delete droplets, which moves droplets between pages; the lookup of one
    // name has only one page.
    const result = await byName(names, signal);
    if (result !== undefined) return result;
    return typeof scanned === 'object' ? scanned : findAll(query, signal);
  };

  /**
   * Returns undefined when another kind of lookup needs fewer requests, when the server ignores the tag, or when the scan is
   * not conclusive.
   */
  const findByTag = async (query: Query, tag: string, signal: AbortSignal): Promise<Found | undefined> => {
    const scan = tagScans.get(tag) ?? createScan(lane, tag);
    tagScans.set(tag, scan);
    const costWithoutTag = (count: number): number =>
      Math.min(costByName(count), fullScan.pages() ?? Number.POSITIVE_INFINITY);
    if (!isTagFilterSupported || costWithoutTag(query.names.length) < (scan.pages() ?? 2)) return undefined;
    const isWorthwhile = (left: number, count: number): boolean => left <= costWithoutTag(count);
    const found = await scan.find({ ...query, isWorthwhile }, signal);
    if (found === 'unfiltered') isTagFilterSupported = false;
    return typeof found === 'object' && found.conclusive ? found : undefined;
  };

  return {
    async find(query, signal) {
      const { tag } = query;
      if (tag === undefined) return findAll(query, signal);
      return (await findByTag(query, tag, signal)) ?? onlyTagged(await findAll(query, signal), tag);
    },
  };
}

function onlyTagged(result: Found, tag: string): Found {
  const tagged = [...result.droplets].map(
    ([name, droplets]) => [name, droplets.filter((one) => hasTag(one, tag))] as const,
  );
  return { ...result, droplets: new Map(tagged) };
}

/** Runs at most `max` asynchronous functions at a time. */
function limitConcurrency(max: number): <T>(work: () => Promise<T>) => Promise<T> {
  let free = max;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
}

/** The droplets with the requested names, as one lookup found them. */
export interface Found {
  /** Whether the lookup read every droplet, so that a name without a result certainly has no droplet. */
  readonly conclusive: boolean;
  /** Whether the list response has the member `meta.total`. Without a total, no lookup is conclusive. */
  readonly hasTotal: boolean;
  readonly droplets: ReadonlyMap<string, readonly Droplet[]>;
}

interface ScanQuery extends Pick<Query, 'names' | 'has' | 'isKnown'> {
  /**
   * Called after the first page to decide whether to continue. @param left number of remaining pages @param count number of
   * names that all lookups sharing the scan look for
   */
  readonly isWorthwhile: (left: number, count: number) => boolean;
}

/**
 * The result of a scan. `stopped`: the scan ended because looking up single names needs fewer requests. `unfiltered`: the
 * server ignores `?tag_name=`.
 */
type ScanOutcome = Found | 'stopped' | 'unfiltered';

/** Reads all pages of a list of droplets once for all lookups that wait for it. */
interface Scan {
  /** The number of pages of the list, known after the first page; undefined before. */
  readonly pages: () => number | undefined;
  find(query: ScanQuery, signal: AbortSignal): Promise<ScanOutcome>;
}

/** @param tag restricts the scan to droplets with this tag; without it all droplets of the account are read */
export function createScan(lane: Lane, tag: string | undefined): Scan {
  const path = tag === undefined ? '/v2/droplets' : `/v2/droplets?tag_name=${encodeURIComponent(tag)}`;
  let pages: number | undefined;
  let waiting: ScanQuery[] = [];
  let scanning: Promise<unknown> = Promise.resolve();
  let next: Promise<ScanOutcome> | undefined;

  /** A scan is conclusive when the first and the last page report the same total, and that many droplets were read. */
  const scan = async (queries: readonly ScanQuery[], signal: AbortSignal): Promise<ScanOutcome> => {
    const ids = new Set<string>();
    const droplets = new Map<string, Droplet[]>();
    const totals: (number | undefined)[] = [];
    const isWanted = (droplet: Droplet): boolean =>
      queries.some(({ has, isKnown }) => has(droplet.name) && isKnown?.(droplet) !== true);
    for await (const page of readPages(lane, path, signal)) {
      totals.push(page.total);
      for (const droplet of page.items) {
        if (tag !== undefined && !hasTag(droplet, tag)) return 'unfiltered';
        if (ids.has(droplet.id)) continue;
        ids.add(droplet.id);
        if (isWanted(droplet)) droplets.set(droplet.name, [...(droplets.get(droplet.name) ?? []), droplet]);
      }
      if (totals.length > 1 || page.total === undefined || page.next === undefined) continue;
      // The size of the returned page is used, because the server may limit `per_page`.
      pages = Math.ceil(page.total / Math.max(1, page.items.length));
      const [left, count] = [pages - 1, queries.reduce((sum, { names }) => sum + names.length, 0)];
      if (!queries.every(({ isWorthwhile }) => isWorthwhile(left, count))) return 'stopped';
    }
    const total = totals.at(-1);
    if (total !== undefined) pages = totals.length;
    const hasTotal = total !== undefined;
    return { conclusive: hasTotal && totals[0] === total && ids.size === total, hasTotal, droplets };
  };

  return {
    pages: () => pages,
    /** Lookups that start during a scan share the next scan, because the running scan may already have passed their droplets. */
    async find(query, signal) {
      waiting.push(query);
      next ??= scanning.then(() => {
        const queries = waiting;
        [waiting, next] = [[], undefined];
        const one = scan(queries, signal);
        scanning = one.catch(() => undefined);
        return one;
      });
      return next;
    },
  };
}

/**
 * Reads every page of a list of droplets and waits for the rate limit between pages. The caller checks whether the pages form a
 * complete list.
 */
export async function* readPages(lane: Lane, path: string, signal: AbortSignal): AsyncGenerator<ListPage<Droplet>> {
  const reader = readerOf(lane, signal);
  const visited = new Set<string>();
  let items = 0;
  let at: string | undefined = `${path}${path.includes('?') ? '&' : '?'}page=1&per_page=${dropletPageSize}`;
  // Reading ends at a link to a page that was already read, because otherwise it would never end.
  while (at !== undefined && !visited.has(at)) {
    visited.add(at);
    const page: ListPage<Droplet> = await readDropletPage(reader, at);
    yield page;
    at = page.next;
    items += page.items.length;
    if (at !== undefined) requireEnd(path, visited.size, items);
  }
}
