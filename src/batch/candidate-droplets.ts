import type { Droplet } from '../api/droplets.ts';
import { isRecord, type JsonRecord, stringField } from '../json.ts';
import type { BatchState } from './batch-state.ts';
import { batchTag, type DropletAttributes } from './droplet-requests.ts';

/** What is known of a request whose droplets are looked for. */
export interface CandidateCriteria {
  readonly attributes: DropletAttributes;
  /** With a mark the tag alone is the evidence. */
  readonly mark: string | undefined;
  /** The server's time before the request, in milliseconds. */
  readonly sentAfter: number | undefined;
  /** Ids that bore the name before anything was sent. */
  readonly existing: (name: string) => readonly number[];
  /** Ids that belong to rows of this batch. */
  readonly belongsToBatch: (id: number) => boolean;
}

/** For names of a batch that may have been sent since then. */
export function candidateCriteria(
  { batch, baseline, ownsId: claimed }: BatchState,
  since: number | undefined,
): CandidateCriteria {
  const { id, attributes, mark } = batch;
  const existing = baseline()?.existing ?? {};
  return {
    attributes,
    mark: mark ? batchTag(id) : undefined,
    sentAfter: since,
    existing: (name) => (Object.hasOwn(existing, name) ? (existing[name] ?? []) : []),
    belongsToBatch: claimed,
  };
}

/** A droplet that may be ours. */
export interface CandidateDroplet {
  readonly id: number;
  /** The server's time in milliseconds; NaN when it did not say. */
  readonly createdAt: number;
}

/** Whole seconds on both sides, and a server of several machines. */
const clockToleranceMs = 5_000;

/** Those of the droplets of one name that may be ours. What the server leaves out contradicts nothing. */
export function findCandidates(
  name: string,
  droplets: readonly Droplet[],
  wanted: CandidateCriteria,
): readonly CandidateDroplet[] {
  return droplets
    .filter((droplet) => droplet.name === name && mayBeOurs(droplet, wanted) && !isOlderThanRequest(droplet, wanted))
    .map(({ id, raw }) => ({ id, createdAt: createdAt(raw) }));
}

/**
 * Ids of those that would be, were they not older than the request. They were not there before the batch; so another made them
 * meanwhile, or the clock of `Date` is ahead of that of `created_at`: not ours for certain, and no proof that ours are not there.
 */
export function findOlderDroplets(
  name: string,
  droplets: readonly Droplet[],
  wanted: CandidateCriteria,
): readonly number[] {
  return droplets
    .filter((droplet) => droplet.name === name && mayBeOurs(droplet, wanted) && isOlderThanRequest(droplet, wanted))
    .map(({ id }) => id);
}

function mayBeOurs({ id, name, raw }: Droplet, wanted: CandidateCriteria): boolean {
  if (wanted.belongsToBatch(id)) return false;
  if (wanted.mark !== undefined) return Array.isArray(raw.tags) && raw.tags.includes(wanted.mark);
  if (wanted.existing(name).includes(id)) return false;
  const { region, size, image } = wanted.attributes;
  return (
    isCompatible(region, [slugOf(raw.region)]) &&
    isCompatible(size, [stringField(raw, 'size_slug') ?? slugOf(raw.size)]) &&
    isCompatible(image, imageIdentifiers(raw, image))
  );
}

/** With a mark time is no evidence. */
function isOlderThanRequest({ raw }: Droplet, { mark, sentAfter: since }: CandidateCriteria): boolean {
  return mark === undefined && since !== undefined && createdAt(raw) < since - clockToleranceMs;
}

/** A slug is compared with the slug, a number with the id. */
function imageIdentifiers(raw: JsonRecord, image: string | number): readonly unknown[] {
  if (!isRecord(raw.image)) return [];
  return [typeof image === 'number' ? raw.image.id : raw.image.slug];
}

function isCompatible(sent: string | number | undefined, seen: readonly unknown[]): boolean {
  const known = seen.filter((one) => one !== undefined && one !== null);
  return sent === undefined || known.length === 0 || known.includes(sent);
}

function createdAt(raw: JsonRecord): number {
  return Date.parse(stringField(raw, 'created_at') ?? '');
}

function slugOf(value: unknown): string | undefined {
  return isRecord(value) ? stringField(value, 'slug') : undefined;
}
