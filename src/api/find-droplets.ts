import { CliError } from '../base/errors.ts';
import { isId, isJsonRecord } from '../base/json.ts';
import type { ApiClient } from './client.ts';
import { type Droplet, type DropletFilter, decodeDroplet, listDroplets } from './droplets.ts';
import { readListTotal } from './list.ts';
import { createRateLimitWaitFunction, type DelayFunction } from './rate-limit-wait.ts';

export interface DropletReader {
  readonly api: ApiClient;
  /** Waits until the rate limit allows another request. */
  readonly pause: DelayFunction;
  readonly onProgress?: (read: number, total: number | undefined) => void;
}

/** The droplets to which an argument of the command line can refer. */
export interface MatchingDroplets {
  /** The droplet whose id equals the argument. */
  readonly withId: Droplet | undefined;
  readonly withName: readonly Droplet[];
}

/**
 * Reads the droplets that the server returns for `filter` and for which `matches` is true. Throws `incomplete_list` unless
 * every droplet was read.
 */
export async function readDroplets(
  { api, pause, onProgress }: DropletReader,
  filter: DropletFilter,
  matches: (droplet: Droplet) => boolean,
): Promise<readonly Droplet[]> {
  const droplets: Droplet[] = [];
  const options = { matches, pause, onProgress, waitsForFirstPage: true };
  for await (const page of listDroplets(api, filter, options)) droplets.push(...page);
  return droplets;
}

/** Finds the droplets that have the texts as id or name, with the fewest requests. */
export async function findDroplets(
  texts: readonly string[],
  reader: DropletReader,
): Promise<ReadonlyMap<string, MatchingDroplets>> {
  const wanted = [...new Set(texts)];
  const lookups = wanted.reduce((sum, text) => sum + (isId(text) ? 2 : 1), 0);
  if (lookups <= 2 || lookups <= (await countPages(reader))) return lookUpEach(wanted, reader);
  const names = new Set(wanted);
  const all = await readDroplets(reader, {}, ({ id, name }) => names.has(name) || names.has(id));
  return new Map(wanted.map((text) => [text, matchDroplets(text, all)]));
}

/** Finds the droplets whose id or name equals the text, among droplets that were already read. */
export function matchDroplets(text: string, droplets: readonly Droplet[]): MatchingDroplets {
  return {
    withId: isId(text) ? droplets.find(({ id }) => id === text) : undefined,
    withName: droplets.filter(({ name }) => name === text),
  };
}

/** Requests one small page to get the total: the whole list is read only if that needs fewer requests than the single lookups. */
async function countPages({ api, pause }: DropletReader): Promise<number> {
  const page = await api.json({
    method: 'GET',
    path: '/v2/droplets?page=1&per_page=1',
    rateLimitRetry: createRateLimitWaitFunction(pause),
  });
  const total = isJsonRecord(page) ? readListTotal(page) : undefined;
  // Without a total in the response, the number of pages is not known.
  return total === undefined ? Number.POSITIVE_INFINITY : Math.ceil(total / pageSize);
}

const pageSize = 200;
const concurrentLookups = 4;

async function lookUpEach(
  texts: readonly string[],
  reader: DropletReader,
): Promise<ReadonlyMap<string, MatchingDroplets>> {
  const found = new Map<string, MatchingDroplets>();
  const queue = texts.values();
  const work = async (): Promise<void> => {
    for (const text of queue) {
      const withName = await readDroplets(reader, { name: text }, ({ name }) => name === text);
      found.set(text, { withName, withId: isId(text) ? await readDroplet(text, reader) : undefined });
      reader.onProgress?.(found.size, texts.length);
    }
  };
  await Promise.all(Array.from({ length: concurrentLookups }, work));
  return found;
}

/** Reads the droplet with this id; undefined when it does not exist. */
async function readDroplet(id: string, { api, pause }: DropletReader): Promise<Droplet | undefined> {
  const path = `/v2/droplets/${id}`;
  try {
    const json = await api.json({ method: 'GET', path, rateLimitRetry: createRateLimitWaitFunction(pause) });
    const droplet = isJsonRecord(json) ? decodeDroplet(json.droplet) : undefined;
    if (droplet !== undefined && droplet.id === id) return droplet;
  } catch (error) {
    if (error instanceof CliError && error.code === 'not_found') return undefined;
    throw error;
  }
  throw new CliError('api_error', `could not parse the response of GET ${path}: it is not droplet ${id}`, {
    hint: 'check base_url with `cloudctl config list`',
  });
}
