import type { ApiRequest } from '../../api/client.ts';
import type { UserData, UserDataDigest } from '../options/user-data.ts';

/** The attributes of every droplet of a batch; `extra` has those that `--set` and other options give. */
export interface DropletAttributes {
  readonly size: string;
  readonly image: string | number;
  readonly region?: string;
  readonly extra: Readonly<Record<string, unknown>>;
  /** The user data itself is sent, but never recorded. */
  readonly user_data?: UserDataDigest;
}

/** A request of the batch with the names of the droplets that it creates. */
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

/** One name is sent as `name`, several as `names` (spec.md §2). */
export function createDropletRequest(
  names: readonly string[],
  attributes: DropletAttributes,
  { signal, userData }: { readonly signal?: AbortSignal; readonly userData?: UserData | undefined } = {},
): GroupRequest {
  const named = JSON.stringify(names.length === 1 ? { name: names[0] } : { names });
  const body = `${named.slice(0, -1)},${attributesToJson(attributes, userData).slice(1)}`;
  return { names, method: 'POST', path: '/v2/droplets', body, signal, secrets: userData?.secrets };
}

/** The attributes are equal in all requests of a batch, so their JSON text is cached. */
const attributeJson = new WeakMap<DropletAttributes, string>();

function attributesToJson(attributes: DropletAttributes, userData: UserData | undefined): string {
  const { region, size, image, extra } = attributes;
  const user_data = userData?.text.reveal();
  const text = attributeJson.get(attributes) ?? JSON.stringify({ region, size, image, ...extra, user_data });
  attributeJson.set(attributes, text);
  return text;
}

function splitIntoGroups(names: readonly string[], size: number): readonly (readonly string[])[] {
  return Array.from({ length: Math.ceil(names.length / size) }, (_, at) => names.slice(at * size, (at + 1) * size));
}

/** The tag of `--mark`. It belongs to one batch, so it proves which batch created a droplet. */
export function batchTag(batchId: string): string {
  return `cloudctl-${batchId}`;
}

/** The attributes with an additional tag; undefined when their tags are not a list of strings. */
export function withAddedTag(attributes: DropletAttributes, tag: string): DropletAttributes | undefined {
  const { tags = [] } = attributes.extra;
  if (!Array.isArray(tags) || !tags.every((one) => typeof one === 'string')) return undefined;
  return { ...attributes, extra: { ...attributes.extra, tags: [...tags, tag] } };
}
