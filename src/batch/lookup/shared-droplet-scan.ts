import type { Droplet } from '../../api/droplets.ts';
import type { RateLimitedSender } from '../sending/rate-limited-sender.ts';
import { hasDropletTag } from './droplet-tags.ts';
import { readDropletPages } from './scan-droplets.ts';

/** The droplets with the requested names, as one lookup found them. */
export interface DropletsByNameLookupResult {
  /** Whether the lookup read every droplet, so that a name without a result certainly has no droplet. */
  readonly conclusive: boolean;
  /** Whether the list response has the member `meta.total`. Without a total, no lookup is conclusive. */
  readonly hasTotal: boolean;
  readonly droplets: ReadonlyMap<string, readonly Droplet[]>;
}

export interface SharedDropletScanLookup {
  readonly names: readonly string[];
  readonly has: (name: string) => boolean;
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
export type DropletScanOutcome = DropletsByNameLookupResult | 'stopped' | 'unfiltered';

/** Reads all pages of a list of droplets once for all lookups that wait for it. */
export interface SharedDropletScan {
  /** The number of pages of the list, known after the first page; undefined before. */
  readonly pages: () => number | undefined;
  find(query: SharedDropletScanLookup, signal: AbortSignal): Promise<DropletScanOutcome>;
}

/** @param tag restricts the scan to droplets with this tag; without it all droplets of the account are read */
export function createSharedDropletScan(lane: RateLimitedSender, tag: string | undefined): SharedDropletScan {
  const path = tag === undefined ? '/v2/droplets' : `/v2/droplets?tag_name=${encodeURIComponent(tag)}`;
  let pages: number | undefined;
  let waiting: SharedDropletScanLookup[] = [];
  let scanning: Promise<unknown> = Promise.resolve();
  let next: Promise<DropletScanOutcome> | undefined;

  /** A scan is conclusive when the first and the last page report the same total, and that many droplets were read. */
  const scan = async (
    queries: readonly SharedDropletScanLookup[],
    signal: AbortSignal,
  ): Promise<DropletScanOutcome> => {
    const ids = new Set<number>();
    const droplets = new Map<string, Droplet[]>();
    const totals: (number | undefined)[] = [];
    const isWanted = (name: string): boolean => queries.some(({ has }) => has(name));
    for await (const page of readDropletPages(lane, path, signal)) {
      totals.push(page.total);
      for (const droplet of page.droplets) {
        if (tag !== undefined && !hasDropletTag(droplet, tag)) return 'unfiltered';
        if (ids.has(droplet.id)) continue;
        ids.add(droplet.id);
        if (isWanted(droplet.name)) droplets.set(droplet.name, [...(droplets.get(droplet.name) ?? []), droplet]);
      }
      if (totals.length > 1 || page.total === undefined || page.next === undefined) continue;
      // The size of the returned page is used, because the server may limit `per_page`.
      pages = Math.ceil(page.total / Math.max(1, page.droplets.length));
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
