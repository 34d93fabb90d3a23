import type { Droplet } from '../api/droplets.ts';
import { dropletPageSize, fetchDropletPage, scanDropletPages } from './scan-droplets.ts';
import type { SendLane } from './send-lane.ts';

/** The droplets with some names, as one lookup found them. */
export interface LookupResult {
  /** The lookup read every droplet, so a name without a droplet has none. */
  readonly conclusive: boolean;
  /** The server returned `meta.total`. Without it no lookup is conclusive. */
  readonly hasTotal: boolean;
  readonly droplets: ReadonlyMap<string, readonly Droplet[]>;
}

export interface LookupQuery {
  readonly names: readonly string[];
  readonly has: (name: string) => boolean;
}

/** Looks droplets up by name: with `?name=` where the server supports it, or in a scan of all pages, whichever needs fewer requests. */
export interface DropletLookup {
  find(query: LookupQuery, signal: AbortSignal): Promise<LookupResult>;
}

const maxConcurrentLookups = 4;

export function createDropletLookup(lane: SendLane): DropletLookup {
  /** False after a response with a droplet of another name: the server ignores `?name=`. */
  let isNameFilterSupported = true;
  let pages: number | undefined;
  /** Names that are being looked up with `?name=`. */
  let namesInProgress = 0;
  const limited = limitConcurrency(maxConcurrentLookups);
  let waiting: LookupQuery[] = [];
  let scanning: Promise<unknown> = Promise.resolve();
  let next: Promise<LookupResult> | undefined;

  const byName = async (names: readonly string[], signal: AbortSignal): Promise<LookupResult | undefined> => {
    const droplets = new Map<string, readonly Droplet[]>();
    const queue = [...names];
    let [conclusive, hasTotal] = [true, true];
    const work = async (): Promise<void> => {
      for (let name = queue.shift(); name !== undefined && isNameFilterSupported; name = queue.shift()) {
        const wantedName = name;
        const path = `/v2/droplets?name=${encodeURIComponent(wantedName)}&page=1&per_page=${dropletPageSize}`;
        const page = await limited(() => fetchDropletPage(lane, path, signal));
        if (page.droplets.some((droplet) => droplet.name !== wantedName)) isNameFilterSupported = false;
        hasTotal &&= page.total !== undefined;
        conclusive &&= page.total === new Set(page.droplets.map(({ id }) => id)).size;
        droplets.set(name, page.droplets);
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

  /** Lookups that start while a scan runs share the next scan: the running one may have passed their droplets. */
  const scan = async (query: LookupQuery, signal: AbortSignal): Promise<LookupResult> => {
    waiting.push(query);
    next ??= scanning.then(() => {
      const all = waiting;
      const isWanted = (name: string): boolean => all.some(({ has }) => has(name));
      [waiting, next] = [[], undefined];
      const one = scanForNames(lane, isWanted, signal, (count) => {
        pages = count;
      });
      scanning = one.catch(() => undefined);
      return one;
    });
    return next;
  };

  return {
    async find(query, signal) {
      const { names } = query;
      const cheaper =
        pages === undefined ? namesInProgress + names.length <= 1 : namesInProgress + names.length < pages;
      if (isNameFilterSupported && cheaper) {
        const result = await byName(names, signal);
        if (result !== undefined) return result;
      }
      const result = await scan(query, signal);
      if (result.conclusive || !isNameFilterSupported) return result;
      // Other users create or delete droplets, which moves them between pages. A lookup of one name has one page.
      return (await byName(names, signal)) ?? result;
    },
  };
}

/** Conclusive when the first and the last page have the same total, and as many droplets were read. */
async function scanForNames(
  lane: SendLane,
  isWanted: (name: string) => boolean,
  signal: AbortSignal,
  onPages: (count: number) => void,
): Promise<LookupResult> {
  const ids = new Set<number>();
  const droplets = new Map<string, Droplet[]>();
  const totals: (number | undefined)[] = [];
  for await (const page of scanDropletPages(lane, '/v2/droplets', signal)) {
    totals.push(page.total);
    for (const droplet of page.droplets) {
      if (ids.has(droplet.id)) continue;
      ids.add(droplet.id);
      if (isWanted(droplet.name)) droplets.set(droplet.name, [...(droplets.get(droplet.name) ?? []), droplet]);
    }
  }
  const total = totals.at(-1);
  // Pages as the server returned them: it may limit `per_page`.
  if (total !== undefined) onPages(totals.length);
  const hasTotal = total !== undefined;
  return { conclusive: hasTotal && totals[0] === total && ids.size === total, hasTotal, droplets };
}

/** Runs at most `max` pieces of work at a time. */
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
