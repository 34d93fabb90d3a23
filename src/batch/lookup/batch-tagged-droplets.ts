import type { Droplet } from '../../api/droplets.ts';
import { CliError, usageError } from '../../errors.ts';
import { readStringField } from '../../json.ts';
import { sanitizeLine } from '../../sanitize/terminal-text.ts';
import { batchLookupTag, getExclusiveBatchTag } from '../ledger/batch-id.ts';
import type { BatchLedgerState } from '../ledger/batch-ledger-state.ts';
import type { RateLimitedSender } from '../sending/rate-limited-sender.ts';
import { describeDropletDifference } from './candidate-droplets.ts';
import { readLowerCaseDropletTags } from './droplet-tags.ts';
import { readDropletPages } from './scan-droplets.ts';

/** A droplet with the tag of the same `--batch-id` that has a name outside the batch or other attributes. */
export interface ForeignTaggedDroplet {
  readonly id: number;
  readonly name: string;
  readonly difference: string;
}

/** The droplets that have a tag of the batch. */
export interface BatchTaggedDroplets {
  /** Ids of the droplets of this batch, by the index of their name; usually one id for each name. */
  readonly own: Map<number, readonly number[]>;
  readonly foreign: ForeignTaggedDroplet[];
  /** The creation time of the newest droplet of the batch, by the server's clock, in milliseconds. */
  newest: number;
}

export interface BatchTaggedDropletLookupResult {
  readonly conclusive: boolean;
  readonly hasTotal: boolean;
  readonly droplets: BatchTaggedDroplets;
}

type TaggedState = Pick<BatchLedgerState, 'batch' | 'hasName' | 'positionOf'>;

/**
 * Reads the droplets that have a tag of the batch with the filter `?tag_name=`. A server that ignores the filter returns all
 * droplets, which is also a complete list, because the program compares the tags itself. If the server refuses the filter, the
 * list is read without it.
 */
export async function findBatchTaggedDroplets(
  lane: RateLimitedSender,
  state: TaggedState,
  signal: AbortSignal,
): Promise<BatchTaggedDropletLookupResult> {
  try {
    return await scanTagged(lane, state, `?tag_name=${encodeURIComponent(batchLookupTag(state.batch))}`, signal);
  } catch (error) {
    const isRefused = error instanceof CliError && [400, 404, 422].includes(error.status ?? 0);
    if (!isRefused) throw error;
    return scanTagged(lane, state, '', signal);
  }
}

/** Only the ids are kept in memory, because a batch may have a million names. */
async function scanTagged(
  lane: RateLimitedSender,
  state: TaggedState,
  filter: string,
  signal: AbortSignal,
): Promise<BatchTaggedDropletLookupResult> {
  const ids = new Set<number>();
  const droplets = createEmptyBatchTaggedDroplets();
  const totals: (number | undefined)[] = [];
  for await (const page of readDropletPages(lane, `/v2/droplets${filter}`, signal)) {
    totals.push(page.total);
    for (const droplet of page.droplets) {
      if (!ids.has(droplet.id)) addDropletIfBatchTagged(state, droplets, droplet);
      ids.add(droplet.id);
    }
  }
  const total = totals.at(-1);
  const hasTotal = total !== undefined;
  return { conclusive: hasTotal && totals[0] === total && ids.size === total, hasTotal, droplets };
}

export function createEmptyBatchTaggedDroplets(): BatchTaggedDroplets {
  return { own: new Map(), foreign: [], newest: Number.NEGATIVE_INFINITY };
}

/** Adds a droplet if it has a tag of the batch; returns whether the droplet was added. */
export function addDropletIfBatchTagged(state: TaggedState, tagged: BatchTaggedDroplets, droplet: Droplet): boolean {
  const { id, name, raw } = droplet;
  const tags = readLowerCaseDropletTags(raw);
  if (!tags.includes(batchLookupTag(state.batch))) return false;
  const at = state.positionOf(name);
  if (at === -1 || !tags.includes(getExclusiveBatchTag(state.batch) ?? '')) {
    tagged.foreign.push({ id, name, difference: describeForeign(state, droplet) });
    return true;
  }
  const found = tagged.own.get(at) ?? [];
  if (!found.includes(id)) tagged.own.set(at, [...found, id]);
  const createdAt = Date.parse(readStringField(raw, 'created_at') ?? '');
  if (createdAt > tagged.newest) tagged.newest = createdAt;
  return true;
}

/** Describes why a droplet with the tag does not belong to the batch: its name, its attributes or its batch tag differs. */
function describeForeign({ batch, hasName }: TaggedState, { name, raw }: Droplet): string {
  if (!hasName(name)) return 'the name is not in this batch';
  const difference = describeDropletDifference(raw, batch.attributes);
  if (difference !== '') return difference;
  const tag = readLowerCaseDropletTags(raw).find((one) => one.startsWith(`${batchLookupTag(batch)}:`));
  const found = tag === undefined ? 'missing' : sanitizeLine(tag);
  return `the droplet was created with other names or attributes (tag ${found} instead of ${getExclusiveBatchTag(batch)})`;
}

/** The error for a `--batch-id` whose tag is on droplets of another batch. */
export function differentBatchError({ batch }: TaggedState, foreign: readonly ForeignTaggedDroplet[]): CliError {
  const listed = foreign.slice(0, 10).map(({ id, name, difference }) => `${sanitizeLine(name)} (${id}): ${difference}`);
  const more = foreign.length > listed.length ? [`and ${foreign.length - listed.length} more`] : [];
  return usageError(
    `--batch-id ${batch.id} belongs to a batch with other names or attributes`,
    'use the names and attributes of that batch, or another id',
    [...listed, ...more].join('; '),
  );
}
