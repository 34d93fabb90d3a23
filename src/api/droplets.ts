import { isRecord, type JsonRecord, numberOf, parseJson, textOf } from '../json.ts';
import type { Api } from './client.ts';
import { listPages, type Portion, type Wish } from './pages.ts';
import { createSplitter } from './split-list.ts';
import { idOf } from './survey.ts';

/** A droplet as the API sent it, with the fields we rely on. */
export interface Droplet {
  readonly id: number;
  readonly name: string;
  readonly raw: JsonRecord;
}

export interface DropletFilter {
  readonly name?: string;
  readonly tag?: string;
}

/** Droplets, a page at a time; the filter is the server's. */
export function listDroplets(
  api: Api,
  filter: DropletFilter,
  wish: Wish<Droplet> = {},
): AsyncGenerator<Portion<Droplet>> {
  const query = new URLSearchParams();
  if (filter.name !== undefined) query.set('name', filter.name);
  if (filter.tag !== undefined) query.set('tag_name', filter.tag);
  return listPages(api, {
    path: query.size === 0 ? '/v2/droplets' : `/v2/droplets?${query}`,
    key: 'droplets',
    members: ['id', 'name', 'created_at'],
    decode: decodeDroplet,
    idOf,
    bornAt: ({ raw }) => textOf(raw, 'created_at'),
    wish,
  });
}

export function decodeDroplet(json: unknown): Droplet | undefined {
  if (!isRecord(json)) return undefined;
  const id = numberOf(json, 'id');
  const name = textOf(json, 'name');
  return id === undefined || name === undefined ? undefined : { id, name, raw: json };
}

/** Beyond 2^53 two ids are one number: who has to know which droplet is whose cannot go by them. */
export function isTellable(id: number): boolean {
  return Number.isSafeInteger(id);
}

/** The answer of a creation: droplets in the order of the names, and the actions that make them. */
export interface Created {
  readonly droplets: readonly Pick<Droplet, 'id' | 'name'>[];
  readonly actionIds: readonly number[];
}

const splitCreated = createSplitter('droplets', ['id', 'name']);

/** Reads `{droplet, links}` (one name) and `{droplets, links}` (several); undefined for anything else. */
export function readCreated(bytes: Buffer): Created | undefined {
  // Of ten droplets little is wanted, and a batch reads thousands of them.
  const split = splitCreated(bytes);
  const json = parseJson(split?.rest ?? bytes.toString('utf8'));
  return json.ok && isRecord(json.value) ? decodeCreated(json.value, split?.skims ?? []) : undefined;
}

function decodeCreated(json: JsonRecord, skims: readonly JsonRecord[]): Created | undefined {
  const several = skims.length > 0 ? skims : json.droplets;
  const droplets: Droplet[] = [];
  for (const one of Array.isArray(several) ? several : [json.droplet]) {
    const droplet = decodeDroplet(one);
    if (droplet === undefined || !isTellable(droplet.id)) return undefined;
    droplets.push(droplet);
  }
  const links = isRecord(json.links) && Array.isArray(json.links.actions) ? json.links.actions : [];
  const actionIds: number[] = [];
  for (const link of links) {
    if (!isRecord(link) || (link.rel !== undefined && link.rel !== 'create')) continue;
    const id = numberOf(link, 'id');
    if (id !== undefined && isTellable(id)) actionIds.push(id);
  }
  return { droplets, actionIds };
}
