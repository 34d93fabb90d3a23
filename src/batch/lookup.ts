import type { Droplet } from '../api/droplets.ts';
import type { Line } from './line.ts';
import { pageSize, readPage, readPages } from './walk.ts';

/** The droplets that bear some names, as one lookup saw them. */
export interface Sight {
  /** It saw all there was to see. */
  readonly conclusive: boolean;
  /** The server told how many there are (`meta.total`); without that nothing is ever conclusive. */
  readonly counted: boolean;
  readonly droplets: ReadonlyMap<string, readonly Droplet[]>;
}

export interface WantedNames {
  readonly names: readonly string[];
  readonly has: (name: string) => boolean;
}

/** Looks droplets up by name: by `?name=` where the server honours it, else through all pages, whichever is cheaper. */
export interface Lookups {
  find(wanted: WantedNames, signal: AbortSignal): Promise<Sight>;
}

const lanes = 4;

export function createLookups(line: Line): Lookups {
  /** Until an answer holds a droplet of another name, the filter is taken to be honoured: such an answer proves itself. */
  let honoured = true;
  let pages: number | undefined;
  /** Names that are being looked up one by one. */
  let named = 0;
  const lane = lanesOf(lanes);
  let waiting: WantedNames[] = [];
  let scanning: Promise<unknown> = Promise.resolve();
  let next: Promise<Sight> | undefined;

  const byName = async (names: readonly string[], signal: AbortSignal): Promise<Sight | undefined> => {
    const droplets = new Map<string, readonly Droplet[]>();
    const queue = [...names];
    let [conclusive, counted] = [true, true];
    const work = async (): Promise<void> => {
      for (let name = queue.shift(); name !== undefined && honoured; name = queue.shift()) {
        const bearer = name;
        const path = `/v2/droplets?name=${encodeURIComponent(bearer)}&page=1&per_page=${pageSize}`;
        const page = await lane(() => readPage(line, path, signal));
        if (page.droplets.some((droplet) => droplet.name !== bearer)) honoured = false;
        counted &&= page.total !== undefined;
        conclusive &&= page.total === new Set(page.droplets.map(({ id }) => id)).size;
        droplets.set(name, page.droplets);
      }
    };
    named += names.length;
    try {
      await Promise.all(Array.from({ length: Math.min(lanes, names.length) }, work));
    } finally {
      named -= names.length;
    }
    return honoured ? { conclusive, counted, droplets } : undefined;
  };

  /** Those who ask while a scan runs share the next one, since that one began before their question. */
  const scan = async (asked: WantedNames, signal: AbortSignal): Promise<Sight> => {
    waiting.push(asked);
    next ??= scanning.then(() => {
      const all = waiting;
      const wanted = (name: string): boolean => all.some(({ has }) => has(name));
      [waiting, next] = [[], undefined];
      const one = scanAll(line, wanted, signal, (count) => {
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
async function scanAll(
  line: Line,
  wanted: (name: string) => boolean,
  signal: AbortSignal,
  onPages: (count: number) => void,
): Promise<Sight> {
  const met = new Set<number>();
  const droplets = new Map<string, Droplet[]>();
  const totals: (number | undefined)[] = [];
  for await (const page of readPages(line, '/v2/droplets', signal)) {
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
  return { conclusive: counted && totals[0] === total && met.size === total, counted, droplets };
}

/** Work that is done so much at a time, whoever asks for it. */
function lanesOf(free: number): <T>(work: () => Promise<T>) => Promise<T> {
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
