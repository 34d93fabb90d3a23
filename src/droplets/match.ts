import { createHash } from 'node:crypto';
import type { Droplet } from '../api/droplets.ts';
import { stringifyExact } from '../base/exact.ts';
import { isJsonRecord, type JsonRecord, readId, readStringField, readStringList } from '../base/json.ts';
import { sanitizeLine } from '../base/sanitize.ts';
import type { Attributes, Batch } from './events.ts';
import type { BatchState } from './state.ts';

/** The Date header and `created_at` are whole seconds, and the clocks of the server's machines differ a little. */
const clockToleranceMs = 5_000;

/**
 * What a droplet with a name of the batch is to a creation request with an unknown result.
 * - `ours`: the request created it.
 * - `older`: it matches, but is older than the request, and did not exist before the batch was started. Either another user
 *   created it, or the clock of the Date header is ahead of the clock of `created_at`.
 * - `different`: it appeared after the request with other attributes. A server may store other values than it received (a region
 *   prefix, an alias of a size), so the request may have created it.
 * - `unrelated`: it existed before, or belongs to another row or another batch.
 *
 * Only droplets that are `ours` are adopted, and only names whose droplets are all `unrelated` are sent again.
 */
type Origin =
  | { readonly kind: 'ours' | 'older' | 'unrelated' }
  | { readonly kind: 'different'; readonly difference: string };

/**
 * With the tag of `--batch-id` the tag alone decides. A field that the server does not return is not compared.
 * @param sentAfter the newest server time, in milliseconds, that was known before the name was sent for the first time
 */
export function originOf(
  { id, name, raw }: Droplet,
  { batch, baseline, ownsId }: BatchState,
  sentAfter: number | undefined,
): Origin {
  if (ownsId(id)) return { kind: 'unrelated' };
  const mark = exclusiveTag(batch);
  if (mark !== undefined) return { kind: tagsOf(raw).includes(mark) ? 'ours' : 'unrelated' };
  const before = baseline()?.existing ?? {};
  if (Object.hasOwn(before, name) && before[name]?.includes(id)) return { kind: 'unrelated' };
  const isOlder = sentAfter !== undefined && createdAt(raw) < sentAfter - clockToleranceMs;
  const difference = describeDifference(raw, batch.attributes);
  if (difference === '') return { kind: isOlder ? 'older' : 'ours' };
  if (isOlder || tagsOf(raw).some(isBatchTag)) return { kind: 'unrelated' };
  return { kind: 'different', difference };
}

/**
 * Describes how a droplet differs from the requested attributes, such as `region nyc3 instead of nyc`; empty when it does not
 * differ.
 */
export function describeDifference(raw: JsonRecord, { region, size, image }: Attributes): string {
  const compared = [
    ['region', region, slugOf(raw.region)],
    ['size', size, readStringField(raw, 'size_slug') ?? slugOf(raw.size)],
    ['image', image, imageOf(raw, image)],
  ] as const;
  return compared
    .filter(([, sent, returned]) => sent !== undefined && returned !== undefined && returned !== String(sent))
    .map(([what, sent, returned]) => `${what} ${sanitizeLine(returned ?? '')} instead of ${sent}`)
    .join(', ');
}

/** An image slug in the request is compared with the slug of the droplet's image, a number with its id. */
function imageOf(raw: JsonRecord, image: Attributes['image']): string | undefined {
  if (!isJsonRecord(raw.image)) return undefined;
  return typeof image === 'string' ? slugOf(raw.image) : readId(raw.image.id);
}

/** The member `created_at` in milliseconds; NaN if it is missing. */
export function createdAt(raw: JsonRecord): number {
  return Date.parse(readStringField(raw, 'created_at') ?? '');
}

function slugOf(value: unknown): string | undefined {
  return isJsonRecord(value) ? readStringField(value, 'slug') : undefined;
}

/**
 * The properties of a batch with `--batch-id`: the same id, names and attributes give the same properties on every machine. The
 * result is undefined when the tags in the attributes are not a list of strings.
 */
export function deriveBatch(
  id: string,
  names: readonly string[],
  typed: Attributes,
): Pick<Batch, 'id' | 'content_hash' | 'attributes'> | undefined {
  const content_hash = contentHash(names, typed);
  const found = addTag(typed, sharedTag({ id }));
  const attributes = found === undefined ? undefined : addTag(found, contentTag(id, content_hash));
  return attributes === undefined ? undefined : { id, content_hash, attributes };
}

/** The tag that only droplets of this batch have; undefined without `--batch-id`. */
export function exclusiveTag({ id, content_hash }: Pick<Batch, 'id' | 'content_hash'>): string | undefined {
  return content_hash === undefined ? undefined : contentTag(id, content_hash);
}

/**
 * The tag with which the droplets of a batch with `--batch-id` are listed; droplets with other names and attributes under the same
 * id have it, too. A tag has letters, digits, `:`, `-` and `_` only, so `v1.2` becomes `cloudctl:v1_2e2`.
 */
export function sharedTag({ id }: Pick<Batch, 'id'>): string {
  return `cloudctl:${encodeId(id)}`;
}

/** The id in characters that tags and file names may have; different ids stay different. */
export function encodeId(id: string): string {
  return id.replace(/[^a-z0-9-]/g, (character) => `_${character.charCodeAt(0).toString(16).padStart(2, '0')}`);
}

/** The number of tags that `--batch-id` adds to the tags of the user. */
export const addedTags = 2;

/** Whether a tag was added by `--batch-id`. */
function isBatchTag(tag: string): boolean {
  return /^cloudctl:[a-z0-9_-]{1,192}(?::[0-9a-f]{12})?$/i.test(tag);
}

function contentTag(id: string, hash: string): string {
  return `${sharedTag({ id })}:${hash}`;
}

/** The hash does not depend on the order of the names, because another machine may list the same names in another order. */
function contentHash(names: readonly string[], attributes: Attributes): string {
  const content = canonicalJson({ names: [...names].sort(), attributes });
  return createHash('sha256').update(content).digest('hex').slice(0, 12);
}

/** Encodes JSON with the members of every object sorted by name. */
function canonicalJson(value: unknown): string {
  return stringifyExact(sortMembers(value)) ?? '';
}

function sortMembers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortMembers);
  if (!isJsonRecord(value)) return value;
  const sorted = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1));
  return Object.fromEntries(sorted.map(([name, member]) => [name, sortMembers(member)]));
}

/** The attributes with an additional tag; undefined when the existing tags are not a list of strings. */
function addTag(attributes: Attributes, tag: string): Attributes | undefined {
  const { tags = [] } = attributes.extra;
  if (!Array.isArray(tags) || !tags.every((one) => typeof one === 'string')) return undefined;
  return { ...attributes, extra: { ...attributes.extra, tags: [...tags, tag] } };
}

/** The tags of a droplet in lower case, because a server may keep the spelling of a tag's first use. */
export function tagsOf({ tags }: JsonRecord): readonly string[] {
  return readStringList(tags).map((tag) => tag.toLowerCase());
}
