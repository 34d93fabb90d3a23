import { isJsonRecord, type JsonRecord, readId, readStringField, tryParseExactJson } from '../base/json.ts';
import type { ApiClient } from './client.ts';
import { type ListOptions, type ListRequest, readList } from './list.ts';

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
  const list: ListRequest<Droplet> = {
    path: query.size === 0 ? '/v2/droplets' : `/v2/droplets?${query}`,
    key: 'droplets',
    decode: decodeDroplet,
    idOf: ({ id }) => id,
    createdAt: ({ raw }) => readStringField(raw, 'created_at'),
  };
  return readList(api, list, options);
}

export function decodeDroplet(json: unknown): Droplet | undefined {
  if (!isJsonRecord(json)) return undefined;
  const id = readId(json.id);
  const name = readStringField(json, 'name');
  return id === undefined || name === undefined ? undefined : { id, name, raw: json };
}

/** The public IPv4 address of a droplet. */
export function readPublicDropletAddress(raw: JsonRecord): string | undefined {
  const networks = isJsonRecord(raw.networks) ? raw.networks.v4 : undefined;
  if (!Array.isArray(networks)) return undefined;
  const publicNetwork = networks.find((network) => isJsonRecord(network) && network.type === 'public');
  return isJsonRecord(publicNetwork) ? readStringField(publicNetwork, 'ip_address') : undefined;
}

/** Whether a droplet has a tag; the API compares tags without case. A server may return a tag that consists of digits as a number. */
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
