import type { ApiRequest } from '../api/client.ts';

/** What every droplet of the batch has in common; `extra` are attributes the API knows and we do not. */
export interface DropletAttributes {
  readonly size: string;
  readonly image: string | number;
  readonly region?: string;
  readonly extra: Readonly<Record<string, unknown>>;
}

/** A request of the batch with the names it creates. */
export interface GroupRequest extends ApiRequest {
  readonly names: readonly string[];
  readonly body: string;
}

/** The requests a batch sends, in order. */
export function createDropletRequests(
  names: readonly string[],
  attributes: DropletAttributes,
  batchSize: number,
): readonly GroupRequest[] {
  return splitIntoGroups(names, batchSize).map((group) => createDropletRequest(group, attributes));
}

/** A single name is sent as `name`, several as `names` (spec.md §2). */
export function createDropletRequest(
  names: readonly string[],
  attributes: DropletAttributes,
  signal?: AbortSignal,
): GroupRequest {
  const named = JSON.stringify(names.length === 1 ? { name: names[0] } : { names });
  const body = `${named.slice(0, -1)},${attributesToJson(attributes).slice(1)}`;
  return { names, method: 'POST', path: '/v2/droplets', body, signal };
}

/** The same in all requests of a batch. */
const attributeJson = new WeakMap<DropletAttributes, string>();

function attributesToJson(attributes: DropletAttributes): string {
  const { region, size, image, extra } = attributes;
  const text = attributeJson.get(attributes) ?? JSON.stringify({ region, size, image, ...extra });
  attributeJson.set(attributes, text);
  return text;
}

function splitIntoGroups(names: readonly string[], size: number): readonly (readonly string[])[] {
  return Array.from({ length: Math.ceil(names.length / size) }, (_, at) => names.slice(at * size, (at + 1) * size));
}

/** The tag of `--mark`: it belongs to one batch and so proves whose a droplet is. */
export function batchTag(batchId: string): string {
  return `cloudctl-${batchId}`;
}

/** The same attributes with one more tag; `undefined` when the tags that were given are no list of texts. */
export function withTag(attributes: DropletAttributes, tag: string): DropletAttributes | undefined {
  const { tags = [] } = attributes.extra;
  if (!Array.isArray(tags) || !tags.every((one) => typeof one === 'string')) return undefined;
  return { ...attributes, extra: { ...attributes.extra, tags: [...tags, tag] } };
}
