import type { Droplet } from '../api/droplets.ts';
import { isRecord, type JsonRecord, textOf } from '../json.ts';
import { type Attributes, markOf } from './requests.ts';
import type { Roster } from './roster.ts';

/** What is known of a request whose droplets are looked for. */
export interface Wanted {
  readonly attributes: Attributes;
  /** With a mark the tag alone is the evidence. */
  readonly mark: string | undefined;
  /** The server's time before the request, in milliseconds. */
  readonly since: number | undefined;
  /** Ids that bore the name before anything was sent. */
  readonly existing: (name: string) => readonly number[];
  /** Ids that belong to rows of this batch. */
  readonly claimed: (id: number) => boolean;
}

/** For names of a batch that may have been sent since then. */
export function wantedOf({ batch, baseline, claimed }: Roster, since: number | undefined): Wanted {
  const { id, attributes, mark } = batch;
  const existing = baseline()?.existing ?? {};
  return {
    attributes,
    mark: mark ? markOf(id) : undefined,
    since,
    existing: (name) => (Object.hasOwn(existing, name) ? (existing[name] ?? []) : []),
    claimed,
  };
}

/** A droplet that may be ours. */
export interface Sighting {
  readonly id: number;
  /** The server's time in milliseconds; NaN when it did not say. */
  readonly createdAt: number;
}

/** Whole seconds on both sides, and a server of several machines. */
const slack = 5_000;

/** Those of the droplets of one name that may be ours. What the server leaves out contradicts nothing. */
export function candidates(name: string, droplets: readonly Droplet[], wanted: Wanted): readonly Sighting[] {
  return droplets
    .filter((droplet) => droplet.name === name && isOurs(droplet, wanted) && !isOlder(droplet, wanted))
    .map(({ id, raw }) => ({ id, createdAt: createdAt(raw) }));
}

/**
 * Ids of those that would be, were they not older than the request. They were not there before the batch; so another made them
 * meanwhile, or the clock of `Date` is ahead of that of `created_at`: not ours for certain, and no proof that ours are not there.
 */
export function elders(name: string, droplets: readonly Droplet[], wanted: Wanted): readonly number[] {
  return droplets
    .filter((droplet) => droplet.name === name && isOurs(droplet, wanted) && isOlder(droplet, wanted))
    .map(({ id }) => id);
}

function isOurs({ id, name, raw }: Droplet, wanted: Wanted): boolean {
  if (wanted.claimed(id)) return false;
  if (wanted.mark !== undefined) return Array.isArray(raw.tags) && raw.tags.includes(wanted.mark);
  if (wanted.existing(name).includes(id)) return false;
  const { region, size, image } = wanted.attributes;
  return (
    agrees(region, [slugOf(raw.region)]) &&
    agrees(size, [textOf(raw, 'size_slug') ?? slugOf(raw.size)]) &&
    agrees(image, imageWords(raw, image))
  );
}

/** With a mark time is no evidence. */
function isOlder({ raw }: Droplet, { mark, since }: Wanted): boolean {
  return mark === undefined && since !== undefined && createdAt(raw) < since - slack;
}

/** A slug is compared with the slug, a number with the id. */
function imageWords(raw: JsonRecord, image: string | number): readonly unknown[] {
  if (!isRecord(raw.image)) return [];
  return [typeof image === 'number' ? raw.image.id : raw.image.slug];
}

function agrees(sent: string | number | undefined, seen: readonly unknown[]): boolean {
  const known = seen.filter((one) => one !== undefined && one !== null);
  return sent === undefined || known.length === 0 || known.includes(sent);
}

function createdAt(raw: JsonRecord): number {
  return Date.parse(textOf(raw, 'created_at') ?? '');
}

function slugOf(value: unknown): string | undefined {
  return isRecord(value) ? textOf(value, 'slug') : undefined;
}
