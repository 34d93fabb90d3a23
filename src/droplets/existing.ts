import type { Droplet } from '../api/droplets.ts';
import { CliError, usageError } from '../base/errors.ts';
import { sanitizeLine } from '../base/sanitize.ts';
import type { Batch, CreatedRow } from './events.ts';
import type { Run } from './io.ts';
import type { Lane } from './lane.ts';
import type { Ledger } from './ledger.ts';
import { type Found, readPages } from './lookup.ts';
import { batchTag, createdAt, describeDifference, exclusiveTag, lookupTag, originOf, tagsOf } from './match.ts';
import type { BatchState } from './state.ts';
import { latestArrival } from './uncertain.ts';

const maxAttempts = 3;

/**
 * Records the droplets that have one of the names before any droplet is requested. The baseline is synced to the disk when the
 * promise resolves; a resumed batch keeps its baseline.
 */
export async function recordBaseline(run: Run): Promise<void> {
  const { ledger, finder, ending } = run;
  const { batch, baseline, hasName } = ledger.state;
  if (baseline() !== undefined) return;
  const { droplets } = await untilConclusive(() => finder.find({ names: batch.names, has: hasName }, ending));
  await commitBaseline(droplets, run);
}

async function commitBaseline(droplets: ReadonlyMap<string, readonly Droplet[]>, { ledger, lane }: Run): Promise<void> {
  const { batch } = ledger.state;
  const existing = [...droplets].filter(([, found]) => found.length > 0);
  await ledger.commit({
    event: 'baseline',
    server_date: lane.serverTime(),
    existing: Object.fromEntries(existing.map(([name, found]) => [name, found.map(({ id }) => id)])),
    ...(batch.if_exists === 'skip' ? { differences: differencesOf(existing, batch) } : {}),
  });
}

function differencesOf(existing: readonly (readonly [string, readonly Droplet[]])[], { attributes }: Batch) {
  const texts = existing.map(([name, [first]]) => [name, describeDifference(first?.raw ?? {}, attributes)] as const);
  return Object.fromEntries(texts.filter(([, difference]) => difference !== ''));
}

/** Repeats a lookup until it is conclusive, and returns its result. Throws `incomplete_list` when no lookup is conclusive. */
export async function untilConclusive<T extends Pick<Found, 'conclusive' | 'hasTotal'>>(
  find: () => Promise<T>,
): Promise<T> {
  for (let attempt = 1; attempt <= maxAttempts; attempt++) {
    const found = await find();
    if (!found.hasTotal) throw missingTotalError();
    if (found.conclusive) return found;
  }
  throw new CliError('incomplete_list', 'could not read which names are in use', {
    detail: `the list of droplets changed during each of ${maxAttempts} readings`,
    hint: 'run the command again',
  });
}

/** Without a total it cannot be known whether the list is complete, however often it is read. */
function missingTotalError(): CliError {
  return new CliError('incomplete_list', 'could not read which names are in use', {
    detail: 'the response of GET /v2/droplets has no `meta.total`',
    hint: 'check that base_url is the resource API: `cloudctl api GET /v2/droplets`',
  });
}

/**
 * A ledger can lack droplets that exist on the server: a copy of the ledger continued the batch, or the ledger was restored
 * from a backup. Missing names are recorded as created (adopted) when exactly one droplet with the tag of `--mark` has the
 * name; resolves with the adopted names. When several droplets match a name, or the lookup was inconclusive, the result of the
 * name becomes unknown. Without `--mark` no droplet is adopted, because another user may have created the droplet.
 */
export async function adoptMarked({ ledger, finder, ending }: Run): Promise<readonly string[]> {
  const { state } = ledger;
  const names = state.batch.mark ? state.missing() : [];
  if (names.length === 0) return [];
  const wanted = new Set(names);
  const query = { names, has: (name: string) => wanted.has(name), tag: batchTag(state.batch.id) };
  const { conclusive, droplets } = await finder.find(query, ending);
  const rows: CreatedRow[] = [];
  for (const name of names) {
    const [one, ...others] = (droplets.get(name) ?? []).filter(
      (droplet) => originOf(droplet, state, undefined).kind === 'ours',
    );
    if (one === undefined) continue;
    if (conclusive && others.length === 0) rows.push({ name, id: one.id });
    else
      ledger.record({ event: 'unknown', group: state.nextGroup(), names: [name], error: unknownOrigin, resend: true });
  }
  if (rows.length > 0) ledger.record({ event: 'created', group: state.nextGroup(), adopted: true, rows });
  return rows.map(({ name }) => name);
}

const unknownOrigin = 'a droplet with this name exists, and the ledger has no request that created it';

interface TaggedEvents {
  /** Called with names whose droplet was found by the tag of the batch and recorded as created (adopted). */
  readonly onAdopted: (names: readonly string[]) => Promise<void>;
  /**
   * Called before names without a droplet are looked up again. @param names number of these names @param ms milliseconds
   * until the last lookup
   */
  readonly onDoubt: (names: number, ms: number) => Promise<void>;
}

/** Finds and records the existing droplets of a batch with `--batch-id` before any droplet is requested. */
export interface TaggedBatch {
  /**
   * Records the droplets that already have the names (the baseline), and records droplets with the tag of the batch as
   * created.
   */
  begin(): Promise<void>;
  /**
   * Waits until two lookups, some time apart, find no droplet with the missing names, because another machine may have sent
   * them. A droplet that appears with one of these names is recorded as created by this batch.
   */
  resolveMissing(): Promise<void>;
  /** The time in milliseconds of the last lookup for droplets that an earlier run on another machine may have requested. */
  readonly lastLookupAt: () => number;
}

/** A droplet that was created this recently, by the server's clock, may belong to a run that has only just ended. */
const recentMs = 600_000;

export function createTaggedBatch(run: Run, { onAdopted, onDoubt }: TaggedEvents): TaggedBatch {
  const { ledger, lane, finder, clock, times, ending } = run;
  const { state } = ledger;
  const startedAt = clock.now();
  /** False after a lookup by name found a droplet that the lookup by tag did not contain. */
  let isTagFilterTrusted = true;
  let hasRecent = false;

  const findByName = async (names: readonly string[], tagged: Tagged) => {
    const droplets = await untilConclusive(() => finder.find({ names, has: state.hasName }, ending));
    const untagged = new Map<string, readonly Droplet[]>();
    for (const [name, found] of droplets.droplets) {
      const left = found.filter((droplet) => !addIfTagged(state, tagged, droplet));
      if (left.length > 0) untagged.set(name, left);
    }
    return untagged;
  };
  const find = async (): Promise<Tagged> => {
    const { droplets } = await untilConclusive(() => findTagged(lane, state, ending));
    if (!isTagFilterTrusted) await findByName(state.missing(), droplets);
    return droplets;
  };
  const adopt = async (tagged: Tagged): Promise<void> => {
    if (tagged.foreign.length > 0) throw differentBatchError(state, tagged.foreign);
    const serverTime = Date.parse(lane.serverTime() ?? '');
    hasRecent ||= tagged.newest > serverTime - recentMs;
    await onAdopted(recordTagged(tagged.own, ledger));
  };
  return {
    async begin() {
      const tagged = await find();
      const isNew = state.baseline() === undefined;
      try {
        await adopt(tagged);
        if (!isNew) return;
        const before = noneTagged();
        const untagged = await findByName(state.missing(), before);
        isTagFilterTrusted = before.own.size === 0;
        await adopt(before);
        await commitBaseline(untagged, run);
      } catch (error) {
        // After a usage error the new ledger is discarded, because no request was sent.
        if (isNew && error instanceof CliError && error.code === 'usage') await ledger.discard();
        throw error;
      }
    },
    async resolveMissing() {
      const missing = state.missing().length;
      if (missing === 0) return;
      const endedAt = latestArrival(ledger.replaced ?? state, run);
      const first = endedAt + times.settleDelay - clock.now();
      await onDoubt(missing, first + times.lookupInterval);
      for (const wait of [first, times.lookupInterval]) {
        await clock.sleep(Math.max(0, wait), ending);
        await adopt(await find());
        if (state.missing().length === 0) return;
      }
    },
    lastLookupAt: () => (hasRecent ? startedAt + times.orphanLimit : startedAt),
  };
}

interface Duplicates {
  readonly names: readonly string[];
  /** Whether the server lists droplets of the batch by their tag. */
  readonly hasTagged: boolean;
}

/**
 * After all requests were sent, searches for droplets of the batch that have the same name. The result of a name with several
 * droplets becomes `unknown`, its row lists their ids, and the name is never sent again.
 */
export async function recordDuplicates(run: Run): Promise<Duplicates> {
  const { state } = run.ledger;
  const { droplets } = await findTaggedAtEnd(run);
  const several = [...droplets.own]
    .map(([at, ids]) => [at, withRowId(state, at, ids)] as const)
    .filter(([, ids]) => ids.length > 1);
  recordTagged(several, run.ledger);
  return { names: several.map(([at]) => state.batch.names[at] ?? ''), hasTagged: droplets.own.size > 0 };
}

const maxFinalAttempts = 4;

/** Searches for duplicates at the end of the batch. An error is retried, because no later step would find the duplicates. */
async function findTaggedAtEnd({ ledger, lane, clock, times, ending }: Run): Promise<TaggedLookup> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await untilConclusive(() => findTagged(lane, ledger.state, ending));
    } catch (error) {
      const isFinal = !(error instanceof CliError) || error.exitCode === 4 || attempt === maxFinalAttempts;
      if (isFinal || ending.aborted) throw error;
      await clock.sleep(times.lookupInterval, ending);
    }
  }
}

/** Adds the droplet id of the ledger row to the ids that a lookup found, because an outdated list may lack that droplet. */
function withRowId(state: BatchState, at: number, ids: readonly string[]): readonly string[] {
  const row = state.rowAt(at);
  return row.status === 'created' && !ids.includes(row.id) ? [...ids, row.id] : ids;
}

/** Records the droplets of the batch that a lookup found; returns the names whose rows have changed. */
function recordTagged(own: Iterable<readonly [number, readonly string[]]>, ledger: Ledger): readonly string[] {
  const { state } = ledger;
  const rows: CreatedRow[] = [];
  const repeated: string[] = [];
  for (const [position, ids] of own) {
    const row = state.rowAt(position);
    const [id = ''] = ids;
    // Names with an unknown result are looked up together with the group of their request.
    if (row.status === 'unknown') continue;
    if (ids.length > 1) {
      const error = `several droplets match (${row.name}: ${ids.join(', ')})`;
      ledger.record({ event: 'unknown', group: state.nextGroup(), names: [row.name], error, resend: false });
      repeated.push(row.name);
    } else if (row.id !== id || row.status !== 'created') rows.push({ name: row.name, id });
  }
  if (rows.length > 0) ledger.record({ event: 'created', group: state.nextGroup(), adopted: true, rows });
  return [...rows.map(({ name }) => name), ...repeated];
}

/** A droplet with the tag of the same `--batch-id` that has a name outside the batch or other attributes. */
interface Foreign {
  readonly id: string;
  readonly name: string;
  readonly difference: string;
}

/** The droplets that have a tag of the batch. */
interface Tagged {
  /** Ids of the droplets of this batch, by the index of their name; usually one id for each name. */
  readonly own: Map<number, readonly string[]>;
  readonly foreign: Foreign[];
  /** The creation time of the newest droplet of the batch, by the server's clock, in milliseconds. */
  newest: number;
}

interface TaggedLookup {
  readonly conclusive: boolean;
  readonly hasTotal: boolean;
  readonly droplets: Tagged;
}

type TaggedState = Pick<BatchState, 'batch' | 'hasName' | 'positionOf'>;

/**
 * Reads the droplets that have a tag of the batch with the filter `?tag_name=`. A server that ignores the filter returns all
 * droplets, which is also a complete list, because the program compares the tags itself. If the server refuses the filter, the
 * list is read without it.
 */
export async function findTagged(lane: Lane, state: TaggedState, signal: AbortSignal): Promise<TaggedLookup> {
  try {
    return await scanTagged(lane, state, `?tag_name=${encodeURIComponent(lookupTag(state.batch))}`, signal);
  } catch (error) {
    const isRefused = error instanceof CliError && [400, 404, 422].includes(error.status ?? 0);
    if (!isRefused) throw error;
    return scanTagged(lane, state, '', signal);
  }
}

/** Only the ids are kept in memory, because a batch may have a million names. */
async function scanTagged(lane: Lane, state: TaggedState, filter: string, signal: AbortSignal): Promise<TaggedLookup> {
  const ids = new Set<string>();
  const droplets = noneTagged();
  const totals: (number | undefined)[] = [];
  for await (const page of readPages(lane, `/v2/droplets${filter}`, signal)) {
    totals.push(page.total);
    for (const droplet of page.items) {
      if (!ids.has(droplet.id)) addIfTagged(state, droplets, droplet);
      ids.add(droplet.id);
    }
  }
  const total = totals.at(-1);
  const hasTotal = total !== undefined;
  return { conclusive: hasTotal && totals[0] === total && ids.size === total, hasTotal, droplets };
}

export function noneTagged(): Tagged {
  return { own: new Map(), foreign: [], newest: Number.NEGATIVE_INFINITY };
}

/** Adds a droplet if it has a tag of the batch; returns whether the droplet was added. */
export function addIfTagged(state: TaggedState, tagged: Tagged, droplet: Droplet): boolean {
  const { id, name, raw } = droplet;
  const tags = tagsOf(raw);
  if (!tags.includes(lookupTag(state.batch))) return false;
  const at = state.positionOf(name);
  if (at === -1 || !tags.includes(exclusiveTag(state.batch) ?? '')) {
    tagged.foreign.push({ id, name, difference: describeForeign(state, droplet) });
    return true;
  }
  const found = tagged.own.get(at) ?? [];
  if (!found.includes(id)) tagged.own.set(at, [...found, id]);
  if (createdAt(raw) > tagged.newest) tagged.newest = createdAt(raw);
  return true;
}

/** Describes why a droplet with the tag does not belong to the batch: its name, its attributes or its batch tag differs. */
function describeForeign({ batch, hasName }: TaggedState, { name, raw }: Droplet): string {
  if (!hasName(name)) return 'the name is not in this batch';
  const difference = describeDifference(raw, batch.attributes);
  if (difference !== '') return difference;
  const tag = tagsOf(raw).find((one) => one.startsWith(`${lookupTag(batch)}:`));
  const found = tag === undefined ? 'missing' : sanitizeLine(tag);
  return `the droplet was created with other names or attributes (tag ${found} instead of ${exclusiveTag(batch)})`;
}

/** The error for a `--batch-id` whose tag is on droplets of another batch. */
function differentBatchError({ batch }: TaggedState, foreign: readonly Foreign[]): CliError {
  const listed = foreign.slice(0, 10).map(({ id, name, difference }) => `${sanitizeLine(name)} (${id}): ${difference}`);
  const more = foreign.length > listed.length ? [`and ${foreign.length - listed.length} more`] : [];
  return usageError(
    `--batch-id ${batch.id} belongs to a batch with other names or attributes`,
    'use the names and attributes of that batch, or another id',
    [...listed, ...more].join('; '),
  );
}
