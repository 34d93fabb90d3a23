import type { Droplet } from '../api/droplets.ts';
import { dropletPageSize, fetchDropletPage, scanDropletPages } from './scan-droplets.ts';
import type { SendLane } from './send-lane.ts';

/** The droplets that bear some names, as one lookup saw them. */
export interface LookupResult {
  /** It saw all there was to see. */
  readonly conclusive: boolean;
  /** The server told how many there are (`meta.total`); without that nothing is ever conclusive. */
  readonly hasTotal: boolean;
  readonly droplets: ReadonlyMap<string, readonly Droplet[]>;
}

export interface LookupQuery {
  readonly names: readonly string[];
  readonly has: (name: string) => boolean;
}

/** Looks droplets up by name: by `?name=` where the server honours it, else through all pages, whichever is cheaper. */
export interface DropletLookup {
  find(wanted: LookupQuery, signal: AbortSignal): Promise<LookupResult>;
}

const maxConcurrentLookups = 4;

export function createDropletLookup(line: SendLane): DropletLookup {
  /** Until an answer holds a droplet of another name, the filter is taken to be honoured: such an answer proves itself. */
  let honoured = true;
  let pages: number | undefined;
  /** Names that are being looked up one by one. */
  let named = 0;
  const lane = limitConcurrency(maxConcurrentLookups);
  let waiting: LookupQuery[] = [];
  let scanning: Promise<unknown> = Promise.resolve();
  let next: Promise<LookupResult> | undefined;

  const byName = async (names: readonly string[], signal: AbortSignal): Promise<LookupResult | undefined> => {
    const droplets = new Map<string, readonly Droplet[]>();
    const queue = [...names];
    let [conclusive, counted] = [true, true];
    const work = async (): Promise<void> => {
      for (let name = queue.shift(); name !== undefined && honoured; name = queue.shift()) {
        const bearer = name;
        const path = `/v2/droplets?name=${encodeURIComponent(bearer)}&page=1&per_page=${dropletPageSize}`;
        const page = await lane(() => fetchDropletPage(line, path, signal));
        if (page.droplets.some((droplet) => droplet.name !== bearer)) honoured = false;
        counted &&= page.total !== undefined;
        conclusive &&= page.total === new Set(page.droplets.map(({ id }) => id)).size;
        droplets.set(name, page.droplets);
      }
    };
    named += names.length;
    try {
      await Promise.all(Array.from({ length: Math.min(maxConcurrentLookups, names.length) }, work));
    } finally {
      named -= names.length;
    }
    return honoured ? { conclusive, hasTotal: counted, droplets } : undefined;
  };

  /** Those who ask while a scan runs share the next one, since that one began before their question. */
  const scan = async (asked: LookupQuery, signal: AbortSignal): Promise<LookupResult> => {
    waiting.push(asked);
    next ??= scanning.then(() => {
      const all = waiting;
      const wanted = (name: string): boolean => all.some(({ has }) => has(name));
      [waiting, next] = [[], undefined];
      const one = scanForNames(line, wanted, signal, (count) => {
        pages = count;
      });
      scanning = one.catch(() => undefined);
      return one;
    });
    return next;
  };

  return {
    async find(asked, signal) {
      const { names } = asked;
      const cheaper = pages === undefined ? named + names.length <= 1 : named + names.length < pages;
      if (honoured && cheaper) {
        const sight = await byName(names, signal);
        if (sight !== undefined) return sight;
      }
      const sight = await scan(asked, signal);
      if (sight.conclusive || !honoured) return sight;
      // Somebody creates or deletes droplets meanwhile: one page of one name has no such race.
      return (await byName(names, signal)) ?? sight;
    },
  };
}

/** Conclusive when the first and the last page tell the same total, and so many droplets were met. */
async function scanForNames(
  line: SendLane,
  wanted: (name: string) => boolean,
  signal: AbortSignal,
  onPages: (count: number) => void,
): Promise<LookupResult> {
  const met = new Set<number>();
  const droplets = new Map<string, Droplet[]>();
  const totals: (number | undefined)[] = [];
  for await (const page of scanDropletPages(line, '/v2/droplets', signal)) {
    totals.push(page.total);
    for (const droplet of page.droplets) {
      if (met.has(droplet.id)) continue;
      met.add(droplet.id);
      if (wanted(droplet.name)) droplets.set(droplet.name, [...(droplets.get(droplet.name) ?? []), droplet]);
    }
  }
  const total = totals.at(-1);
  // As they came: a server may cut them smaller than was asked for.
  if (total !== undefined) onPages(totals.length);
  const counted = total !== undefined;
  return { conclusive: counted && totals[0] === total && met.size === total, hasTotal: counted, droplets };
}

/** Work that is done so much at a time, whoever asks for it. */
function limitConcurrency(free: number): <T>(work: () => Promise<T>) => Promise<T> {
  let left = free;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (left > 0) left -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) left += 1;
      else next();
    }
  };
}
