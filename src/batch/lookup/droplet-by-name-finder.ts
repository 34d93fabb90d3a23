import type { Droplet } from '../../api/droplets.ts';
import type { RateLimitedSender } from '../sending/rate-limited-sender.ts';
import { hasDropletTag } from './droplet-tags.ts';
import { dropletPageSize, fetchDropletPage } from './scan-droplets.ts';
import {
  createSharedDropletScan,
  type DropletScanOutcome,
  type DropletsByNameLookupResult,
  type SharedDropletScan,
} from './shared-droplet-scan.ts';

export interface DropletsToLookUp {
  readonly names: readonly string[];
  readonly has: (name: string) => boolean;
  /** Restricts the lookup to droplets with this tag, compared without case. */
  readonly tag?: string | undefined;
}

/**
 * Looks droplets up by name in the way that needs the fewest requests: `?name=` for each name, `?tag_name=`, or all pages of
 * the list.
 */
export interface DropletByNameFinder {
  find(query: DropletsToLookUp, signal: AbortSignal): Promise<DropletsByNameLookupResult>;
}

const maxConcurrentLookups = 4;

export function createDropletByNameFinder(lane: RateLimitedSender): DropletByNameFinder {
  /** False after a response that contains a droplet with another name, which shows that the server ignores `?name=`. */
  let isNameFilterSupported = true;
  /** False after a response that contains a droplet without the tag, which shows that the server ignores `?tag_name=`. */
  let isTagFilterSupported = true;
  /** The number of names that are currently looked up with `?name=`. */
  let namesInProgress = 0;
  const limited = limitConcurrency(maxConcurrentLookups);
  const fullScan = createSharedDropletScan(lane, undefined);
  const tagScans = new Map<string, SharedDropletScan>();

  const byName = async (
    names: readonly string[],
    signal: AbortSignal,
  ): Promise<DropletsByNameLookupResult | undefined> => {
    const droplets = new Map<string, readonly Droplet[]>();
    const queue = [...names];
    let [conclusive, hasTotal] = [true, true];
    const work = async (): Promise<void> => {
      for (let name = queue.shift(); name !== undefined && isNameFilterSupported; name = queue.shift()) {
        const wantedName = name;
        const path = `/v2/droplets?name=${encodeURIComponent(wantedName)}&page=1&per_page=${dropletPageSize}`;
        const page = await limited(() => fetchDropletPage(lane, path, signal));
        // The API compares droplet names without case.
        const isOther = (droplet: Droplet): boolean => droplet.name.toLowerCase() !== wantedName.toLowerCase();
        if (page.droplets.some(isOther)) isNameFilterSupported = false;
        hasTotal &&= page.total !== undefined;
        conclusive &&= page.total === new Set(page.droplets.map(({ id }) => id)).size;
        const found = page.droplets.filter((droplet) => droplet.name === wantedName);
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

  const findAll = async (query: DropletsToLookUp, signal: AbortSignal): Promise<DropletsByNameLookupResult> => {
    const { names } = query;
    // While the number of pages is unknown, a single name is looked up with one request; for more names, the first page of the
    // list is read to decide.
    if (costByName(names.length) < (fullScan.pages() ?? 2)) {
      const result = await byName(names, signal);
      if (result !== undefined) return result;
    }
    const isWorthwhile = (left: number, count: number): boolean => left <= costByName(count);
    const scan = (): Promise<DropletScanOutcome> => fullScan.find({ ...query, isWorthwhile }, signal);
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
  const findByTag = async (
    query: DropletsToLookUp,
    tag: string,
    signal: AbortSignal,
  ): Promise<DropletsByNameLookupResult | undefined> => {
    const scan = tagScans.get(tag) ?? createSharedDropletScan(lane, tag);
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

function onlyTagged(result: DropletsByNameLookupResult, tag: string): DropletsByNameLookupResult {
  const tagged = [...result.droplets].map(
    ([name, droplets]) => [name, droplets.filter((one) => hasDropletTag(one, tag))] as const,
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
