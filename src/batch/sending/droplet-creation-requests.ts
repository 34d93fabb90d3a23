import type { ApiRequest } from '../../api/client.ts';
import type { DropletUserData, DropletUserDataDigest } from '../options/user-data.ts';

/** The attributes of every droplet of a batch; `extra` contains the attributes of `--set` and of other options. */
export interface DropletAttributes {
  readonly size: string;
  readonly image: string | number;
  readonly region?: string;
  readonly extra: Readonly<Record<string, unknown>>;
  /** The user data is sent to the server but never recorded in the ledger. */
  readonly user_data?: DropletUserDataDigest;
}

/** A creation request of the batch, with the names of its droplets. */
export interface DropletCreationApiRequest extends ApiRequest {
  readonly names: readonly string[];
  readonly body: string;
}

/** Generates the requests of a batch in the order of the names. */
export function buildDropletCreationRequests(
  names: readonly string[],
  attributes: DropletAttributes,
  batchSize: number,
): readonly DropletCreationApiRequest[] {
  return splitIntoGroups(names, batchSize).map((group) => buildDropletCreationRequest(group, attributes));
}

/** One name is sent as the member `name`, several names as `names` (spec.md §2). */
export function buildDropletCreationRequest(
  names: readonly string[],
  attributes: DropletAttributes,
  { signal, userData }: { readonly signal?: AbortSignal; readonly userData?: DropletUserData | undefined } = {},
): DropletCreationApiRequest {
  const named = JSON.stringify(names.length === 1 ? { name: names[0] } : { names });
  const body = `${named.slice(0, -1)},${attributesToJson(attributes, userData).slice(1)}`;
  return { names, method: 'POST', path: '/v2/droplets', body, signal, secrets: userData?.secrets };
}

/** All requests of a batch have the same attributes, so the JSON text of the attributes is cached. */
const attributeJson = new WeakMap<DropletAttributes, string>();

function attributesToJson(attributes: DropletAttributes, userData: DropletUserData | undefined): string {
  const { region, size, image, extra } = attributes;
  const user_data = userData?.text.reveal();
  const text = attributeJson.get(attributes) ?? JSON.stringify({ region, size, image, ...extra, user_data });
  attributeJson.set(attributes, text);
  return text;
}

function splitIntoGroups(names: readonly string[], size: number): readonly (readonly string[])[] {
  return Array.from({ length: Math.ceil(names.length / size) }, (_, at) => names.slice(at * size, (at + 1) * size));
}

/**
 * The tag that `--mark` adds to the droplets of a batch. Each batch has its own tag, which proves that the batch created the
 * droplet.
 */
export function batchTag(batchId: string): string {
  return `cloudctl-${batchId}`;
}

/** The attributes with an additional tag; undefined when the existing tags are not a list of strings. */
export function addTagToDropletAttributes(attributes: DropletAttributes, tag: string): DropletAttributes | undefined {
  const { tags = [] } = attributes.extra;
  if (!Array.isArray(tags) || !tags.every((one) => typeof one === 'string')) return undefined;
  return { ...attributes, extra: { ...attributes.extra, tags: [...tags, tag] } };
}
