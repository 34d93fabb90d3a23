import { isId, isJsonRecord, type JsonRecord, readId, readStringField, tryParseExactJson } from '../base/json.ts';
import type { ApiClient } from './client.ts';
import {
  createReader,
  ifFound,
  type ListOptions,
  type ListPage,
  type ListRequest,
  type Reader,
  readItem,
  readList,
  readPage,
} from './list.ts';
import type { DelayFunction } from './waits.ts';

/** A droplet as the API returned it, with the decoded fields that this program uses; ids are strings of digits. */
export interface Droplet {
  readonly id: string;
  readonly name: string;
  readonly raw: JsonRecord;
}

export interface DropletFilter {
  readonly name?: string;
  readonly tag?: string;
}

/** Lists droplets, page by page. The server filters the droplets. */
export function listDroplets(
  api: ApiClient,
  filter: DropletFilter,
  options: ListOptions<Droplet> = {},
): AsyncGenerator<readonly Droplet[]> {
  const query = new URLSearchParams();
  if (filter.name !== undefined) query.set('name', filter.name);
  if (filter.tag !== undefined) query.set('tag_name', filter.tag);
  return readList(api, { ...dropletList, path: query.size === 0 ? '/v2/droplets' : `/v2/droplets?${query}` }, options);
}

const dropletList: ListRequest<Droplet> = {
  path: '/v2/droplets',
  key: 'droplets',
  decode: decodeDroplet,
  idOf: ({ id }) => id,
  createdAt: ({ raw }) => readStringField(raw, 'created_at'),
};

/** The largest page that the API returns. */
export const dropletPageSize = 200;

/** Reads one page of droplets. @param path path and query of the page */
export function readDropletPage(reader: Reader, path: string): Promise<ListPage<Droplet>> {
  return readPage(reader, dropletList, path);
}

/** Reads the droplet with this id; undefined when it does not exist. */
export function readDroplet(reader: Reader, id: string): Promise<Droplet | undefined> {
  return ifFound(readItem(reader, 'droplet', decodeDroplet, id));
}

export function decodeDroplet(json: unknown): Droplet | undefined {
  if (!isJsonRecord(json)) return undefined;
  const id = readId(json.id);
  const name = readStringField(json, 'name');
  return id === undefined || name === undefined ? undefined : { id, name, raw: json };
}

/** The public IPv4 address of a droplet. */
export function publicAddress(raw: JsonRecord): string | undefined {
  const networks = isJsonRecord(raw.networks) ? raw.networks.v4 : undefined;
  if (!Array.isArray(networks)) return undefined;
  const publicNetwork = networks.find((network) => isJsonRecord(network) && network.type === 'public');
  return isJsonRecord(publicNetwork) ? readStringField(publicNetwork, 'ip_address') : undefined;
}

/** Whether a droplet has a tag. Case makes no other tag: a server may keep the spelling of its first use. It may return digits as a number. */
export function hasTag({ raw: { tags } }: Pick<Droplet, 'raw'>, wanted: string): boolean {
  return Array.isArray(tags) && tags.some((tag) => String(tag).toLowerCase() === wanted.toLowerCase());
}

/** The decoded response to a creation: droplets in the order of the names, and the ids of the actions that create them. */
export interface CreatedDroplets {
  readonly droplets: readonly Pick<Droplet, 'id' | 'name'>[];
  readonly actionIds: readonly string[];
}

/**
 * Parses `{droplet, links}` (response for one name) and `{droplets, links}` (response for several names); returns undefined for
 * anything else.
 */
export function parseCreatedDroplets(bytes: Buffer): CreatedDroplets | undefined {
  const parsed = tryParseExactJson(bytes.toString('utf8'));
  if (!parsed.ok || !isJsonRecord(parsed.value)) return undefined;
  const json = parsed.value;
  const several = json.droplets;
  const droplets: Droplet[] = [];
  for (const one of Array.isArray(several) ? several : [json.droplet]) {
    const droplet = decodeDroplet(one);
    if (droplet === undefined) return undefined;
    droplets.push(droplet);
  }
  const links = isJsonRecord(json.links) && Array.isArray(json.links.actions) ? json.links.actions : [];
  const actionIds: string[] = [];
  for (const link of links) {
    if (!isJsonRecord(link) || (link.rel !== undefined && link.rel !== 'create')) continue;
    const id = readId(link.id);
    if (id !== undefined) actionIds.push(id);
  }
  return { droplets, actionIds };
}

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
  const { total } = await readDropletPage(createReader(api, pause), '/v2/droplets?page=1&per_page=1');
  // Without a total in the response, the number of pages is not known.
  return total === undefined ? Number.POSITIVE_INFINITY : Math.ceil(total / dropletPageSize);
}

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
      found.set(text, {
        withName,
        withId: isId(text) ? await readDroplet(createReader(reader.api, reader.pause), text) : undefined,
      });
      reader.onProgress?.(found.size, texts.length);
    }
  };
  await Promise.all(Array.from({ length: concurrentLookups }, work));
  return found;
}
