import type { Droplet } from '../../api/droplets.ts';
import { isJsonRecord, type JsonRecord, readStringField } from '../../json.ts';
import { sanitizeLine } from '../../sanitize/terminal-text.ts';
import { getExclusiveBatchTag, isBatchTag } from '../ledger/batch-id.ts';
import type { BatchLedgerState } from '../ledger/batch-ledger-state.ts';
import type { DropletAttributes } from '../sending/droplet-creation-requests.ts';
import { readLowerCaseDropletTags } from './droplet-tags.ts';

/** The properties of a droplet that may have been created by a request with an unknown result. */
export interface CandidateDropletCriteria {
  readonly attributes: DropletAttributes;
  /**
   * The tag of `--mark` or `--batch-id` for this batch. If the tag is set, droplets are recognized by the tag, and their
   * creation time is not compared.
   */
  readonly mark: string | undefined;
  /** The newest server time, in milliseconds, that was known before the request was sent. */
  readonly sentAfter: number | undefined;
  /** Ids of droplets that had the name before the batch was started. */
  readonly existing: (name: string) => readonly number[];
  /** Whether a row of this batch has this droplet id. */
  readonly belongsToBatch: (id: number) => boolean;
}

/** @param sentAfter the newest server time, in milliseconds, that was known before the names were sent for the first time */
export function buildCandidateDropletCriteria(
  { batch, baseline, ownsId }: BatchLedgerState,
  sentAfter: number | undefined,
): CandidateDropletCriteria {
  const { attributes } = batch;
  const existing = baseline()?.existing ?? {};
  return {
    attributes,
    mark: getExclusiveBatchTag(batch),
    sentAfter,
    existing: (name) => (Object.hasOwn(existing, name) ? (existing[name] ?? []) : []),
    belongsToBatch: ownsId,
  };
}

/** A droplet that may have been created by this batch. */
export interface CandidateDroplet {
  readonly id: number;
  /** The member `created_at` in milliseconds; NaN if it is missing. */
  readonly createdAt: number;
}

/** The Date header and `created_at` are whole seconds, and the clocks of the server's machines differ a little. */
const clockToleranceMs = 5_000;

/** Finds the droplets with this name that the batch may have created. A field that the server does not return is not compared. */
export function findCandidateDroplets(
  name: string,
  droplets: readonly Droplet[],
  criteria: CandidateDropletCriteria,
): readonly CandidateDroplet[] {
  return droplets
    .filter(
      (droplet) => droplet.name === name && mayBeOurs(droplet, criteria) && !isOlderThanRequest(droplet, criteria),
    )
    .map(({ id, raw }) => ({ id, createdAt: createdAt(raw) }));
}

/**
 * Finds the ids of droplets that match the name and the attributes but are older than the request. The older droplets did not
 * exist before the batch was started, so either another user created them, or the clock of the Date header is ahead of the
 * clock of `created_at`. Older droplets are not adopted, but their name is not sent again either.
 */
export function findDropletsOlderThanRequest(
  name: string,
  droplets: readonly Droplet[],
  criteria: CandidateDropletCriteria,
): readonly number[] {
  return droplets
    .filter((droplet) => droplet.name === name && mayBeOurs(droplet, criteria) && isOlderThanRequest(droplet, criteria))
    .map(({ id }) => id);
}

/** A droplet that appeared after the request, with the same name but other attributes than those that were sent. */
export interface DropletWithOtherAttributes {
  readonly id: number;
  /** The difference in words, such as `region nyc3 instead of nyc`. */
  readonly difference: string;
}

/**
 * Finds droplets that were created after the request but have other attributes. A server may store other values than it
 * received (a region prefix, an alias of a size). So the request may have created these droplets: they are not recorded as
 * created, and their name is not sent again.
 */
export function findDropletsWithOtherAttributes(
  name: string,
  droplets: readonly Droplet[],
  criteria: CandidateDropletCriteria,
): readonly DropletWithOtherAttributes[] {
  if (criteria.mark !== undefined) return [];
  return droplets
    .filter((droplet) => droplet.name === name && isNew(droplet, criteria) && !isOlderThanRequest(droplet, criteria))
    .filter(({ raw }) => !readLowerCaseDropletTags(raw).some(isBatchTag))
    .flatMap(({ id, raw }) => {
      const difference = describeDropletDifference(raw, criteria.attributes);
      return difference === '' ? [] : [{ id, difference }];
    });
}

function isNew({ id, name }: Droplet, criteria: CandidateDropletCriteria): boolean {
  return !criteria.belongsToBatch(id) && !criteria.existing(name).includes(id);
}

function mayBeOurs({ id, name, raw }: Droplet, criteria: CandidateDropletCriteria): boolean {
  if (criteria.belongsToBatch(id)) return false;
  if (criteria.mark !== undefined) return readLowerCaseDropletTags(raw).includes(criteria.mark);
  if (criteria.existing(name).includes(id)) return false;
  return describeDropletDifference(raw, criteria.attributes) === '';
}

/**
 * Describes how a droplet differs from the requested attributes, such as `region nyc3 instead of nyc`; empty when it does not
 * differ.
 */
export function describeDropletDifference(raw: JsonRecord, { region, size, image }: DropletAttributes): string {
  const compared = [
    ['region', region, [slugOf(raw.region)]],
    ['size', size, [readStringField(raw, 'size_slug') ?? slugOf(raw.size)]],
    ['image', image, imageIdentifiers(raw, image)],
  ] as const;
  return compared
    .filter(([, sent, returned]) => !isCompatible(sent, returned))
    .map(([what, sent, returned]) => `${what} ${sanitizeLine(String(returned[0]))} instead of ${sent}`)
    .join(', ');
}

/**
 * Whether a droplet was created before the request. Always false with the tag of `--mark`, which identifies the droplets of
 * the batch.
 */
function isOlderThanRequest({ raw }: Droplet, { mark, sentAfter }: CandidateDropletCriteria): boolean {
  return mark === undefined && sentAfter !== undefined && createdAt(raw) < sentAfter - clockToleranceMs;
}

/** An image slug in the request is compared with the slug of the droplet's image, a number with its id. */
function imageIdentifiers(raw: JsonRecord, image: string | number): readonly unknown[] {
  if (!isJsonRecord(raw.image)) return [];
  return [typeof image === 'number' ? raw.image.id : raw.image.slug];
}

function isCompatible(sent: string | number | undefined, returned: readonly unknown[]): boolean {
  const known = returned.filter((one) => one !== undefined && one !== null);
  return sent === undefined || known.length === 0 || known.includes(sent);
}

function createdAt(raw: JsonRecord): number {
  return Date.parse(readStringField(raw, 'created_at') ?? '');
}

function slugOf(value: unknown): string | undefined {
  return isJsonRecord(value) ? readStringField(value, 'slug') : undefined;
}
