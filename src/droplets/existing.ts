import { type Droplet, readDroplet } from '../api/droplets.ts';
import { CliError, usageError } from '../base/errors.ts';
import { sanitizeLine } from '../base/sanitize.ts';
import { countOf } from '../base/text.ts';
import type { Batch, CreatedRow } from './events.ts';
import type { Run } from './io.ts';
import { type Lane, readerOf } from './lane.ts';
import type { Ledger } from './ledger.ts';
import { type Found, readPages } from './lookup.ts';
import { createdAt, describeDifference, exclusiveTag, sharedTag, tagsOf } from './match.ts';
import type { Others, Proof } from './running.ts';
import type { BatchState } from './state.ts';
import { latestArrival } from './uncertain.ts';

interface ExistingEvents {
  /** Called with names whose droplet was found by the tag of the batch and recorded as created (adopted). */
  readonly onAdopted: (names: readonly string[]) => Promise<void>;
  /**
   * Called before names without a droplet are looked up again, because another run may have sent them.
   * @param names number of these names @param ms milliseconds until the last lookup
   */
  readonly onDoubt: (names: number, ms: number) => Promise<void>;
  /** Called once with what the lookups have shown of names that another run may have sent, before any of them is sent again. */
  readonly onProven: (proofs: ReadonlyMap<string, Proof>) => Promise<void>;
}

/** Droplets that have names of the batch when a run begins. */
export interface Existing {
  /**
   * The time in milliseconds of a last lookup, because an earlier run on another machine may have requested droplets of this batch;
   * undefined when there was none.
   */
  readonly lookAgainAt: number | undefined;
}

/**
 * Records which names have a droplet, before any droplet is requested: for a new batch all its names (the baseline), for a resumed
 * one the names that it would send. The record is synced to the disk when the promise resolves.
 *
 * - A droplet with the tag of the batch (`--batch-id`) is adopted.
 * - A droplet that another run on this machine created exists although a list may not show it yet, so it is read by its id.
 * - A name that another run may have sent is looked up until it has a droplet, the last two times when its request cannot arrive
 *   any more, and later. A second droplet does not matter then, because a name with a droplet is not sent. With `--batch-id`
 *   that is every name, because another machine may have sent it, unless the ledger is new and was named.
 *
 * Throws `usage` when a name is taken, nothing was sent yet, and the batch has `--if-exists fail`.
 */
export async function recordExisting(run: Run, others: Others, events: ExistingEvents): Promise<Existing> {
  const { ledger, lane, finder, clock, times, ending } = run;
  const { state } = ledger;
  const { batch } = state;
  const isTagged = exclusiveTag(batch) !== undefined;
  const isNew = state.baseline() === undefined;
  const startedAt = clock.now();
  let hasRecent = false;
  /** False after a lookup by name found a droplet with the tag of the batch that the lookup by tag did not contain. */
  let isTagTrusted = true;
  const proofs = new Map<string, Proof>();
  const isUncertain = (name: string): boolean => others.uncertain.has(name);
  const commitFound = async (found: ReadonlyMap<string, readonly Droplet[]>): Promise<void> => {
    for (const [name, droplets] of found) if (isUncertain(name)) proofs.set(name, { isAbsent: false, droplets });
    await commitBaseline(found, run);
  };

  const adopt = async (tagged: Tagged): Promise<void> => {
    if (tagged.foreign.length > 0) throw differentBatchError(state, tagged.foreign);
    hasRecent ||= tagged.newest > Date.parse(lane.serverTime() ?? '') - recentMs;
    const adopted = recordTagged(tagged.own, ledger);
    for (const name of adopted) if (isUncertain(name)) proofs.set(name, { isAbsent: false, droplets: [] });
    await events.onAdopted(adopted);
  };
  /** Droplets with these names that do not belong to the batch; those that belong to it are adopted. */
  const look = async (
    names: () => readonly string[],
    byName: boolean,
  ): Promise<ReadonlyMap<string, readonly Droplet[]>> => {
    const found = new Map<string, readonly Droplet[]>();
    const tagged = isTagged ? (await untilConclusive(() => findTagged(lane, state, ending))).droplets : noneTagged();
    if (isTagged) await adopt(tagged);
    if (!byName && isTagTrusted) return found;
    const wanted = new Set(names());
    const named = noneTagged();
    const query = { names: [...wanted], has: (name: string) => wanted.has(name) };
    const { droplets } = await untilConclusive(() => finder.find(query, ending));
    for (const [name, some] of droplets) {
      const left = some.filter(
        (droplet) => !state.ownsId(droplet.id) && !(isTagged && addIfTagged(state, named, droplet)),
      );
      if (left.length > 0) found.set(name, left);
    }
    if (named.own.size > 0) isTagTrusted = false;
    await adopt(named);
    return found;
  };
  const begin = async (): Promise<void> => {
    const wanted = (): readonly string[] => (isNew && !isTagged ? batch.names : [...state.missing(), ...state.taken()]);
    // A resumed batch that asks for more droplets of its names does not compare them.
    const isCompared = isNew || batch.if_exists !== 'create';
    const found = new Map(isCompared || isTagged ? await look(wanted, isCompared) : []);
    if (isCompared) await addCreatedByOthers(found, wanted());
    if (isNew || found.size > 0 || state.taken().length > 0) await commitFound(found);
    requireNamesAvailable(state);
  };
  const addCreatedByOthers = async (
    found: Map<string, readonly Droplet[]>,
    names: readonly string[],
  ): Promise<void> => {
    const byId = new Map<string, Droplet | undefined>();
    const isListed = (name: string, id: string): boolean =>
      found.get(name)?.some((droplet) => droplet.id === id) === true;
    const left = (): readonly (readonly [name: string, id: string])[] =>
      names.flatMap((name) =>
        (others.created.get(name) ?? [])
          .filter((id) => !state.ownsId(id) && !byId.has(id) && others.gone?.has(id) !== true && !isListed(name, id))
          .map((id) => [name, id] as const),
      );
    /** Whether one of these droplets exists, which shows that the list lags: it never shows deleted ones. */
    const isLagging = async (): Promise<boolean> => {
      for (const [, id] of left()) {
        const droplet = await readDroplet(readerOf(lane, ending), id);
        byId.set(id, droplet);
        if (droplet !== undefined) return true;
      }
      return false;
    };
    // One more list needs fewer requests than many droplets by their id.
    for (let attempt = 0; attempt < maxLagging && left().length > maxById && (await isLagging()); attempt++) {
      await clock.sleep(times.pollInterval, ending);
      for (const [name, droplets] of await look(() => names, true)) found.set(name, droplets);
    }
    for (let isMore = true; isMore; ) isMore = await isLagging();
    const named = noneTagged();
    for (const name of names) {
      for (const id of new Set(others.created.get(name))) {
        const droplet = byId.get(id);
        // A server that is started anew can give the id to another droplet.
        if (droplet?.name.toLowerCase() !== name.toLowerCase() || isListed(name, id)) continue;
        if (isTagged && addIfTagged(state, named, droplet)) continue;
        found.set(name, [...(found.get(name) ?? []), droplet]);
      }
    }
    await adopt(named);
  };
  /** Names that are to be sent, with the time after which a request of another run for them cannot arrive any more. */
  const doubtful = (): ReadonlyMap<string, number> => {
    const isForeign = isTagged && ledger.origin !== 'new';
    const arrival = latestArrival(ledger.replaced ?? state, run);
    return new Map(
      state.missing().flatMap((name): [string, number][] => {
        const sentAt = others.uncertain.get(name);
        if (sentAt !== undefined)
          return [[name, Math.max(clock.now(), Math.min(sentAt, clock.now()) + times.orphanLimit)]];
        return isForeign ? [[name, arrival]] : [];
      }),
    );
  };
  try {
    await begin();
    const doubts = doubtful();
    if (doubts.size > 0) {
      const first = Math.max(...doubts.values()) + times.settleDelay;
      const last = first + times.lookupInterval;
      await events.onDoubt(doubts.size, last - clock.now());
      const isDoubted = (): boolean => state.missing().some((name) => doubts.has(name));
      for (const at of lookupTimes(clock.now(), first, times)) {
        if (!isDoubted()) break;
        await clock.sleep(Math.max(0, at - clock.now()), ending);
        // Another machine may have created the other names since.
        const found = await look(state.missing, others.uncertain.size > 0);
        if (found.size > 0) await commitFound(found);
        requireNamesAvailable(state);
      }
      for (const name of state.missing()) if (isUncertain(name)) proofs.set(name, { isAbsent: true, droplets: [] });
    }
    await events.onProven(proofs);
  } catch (error) {
    if (proofs.size > 0) await events.onProven(proofs);
    // No request was sent, so the new ledger is not needed.
    if (!state.wasSent() && error instanceof CliError && error.code === 'usage') await ledger.discard();
    throw error;
  }
  if (!isTagged) return { lookAgainAt: undefined };
  return { lookAgainAt: hasRecent ? startedAt + times.orphanLimit : startedAt };
}

/**
 * When names that another run may have sent are looked up: at growing intervals while its request can still arrive, when it cannot
 * any more, and later. @param first milliseconds, as `now`
 */
function lookupTimes(now: number, first: number, { pollInterval, lookupInterval }: Run['times']): readonly number[] {
  const early: number[] = [];
  let pause = pollInterval;
  for (let at = now + pause; at + lookupInterval <= first; at += pause) {
    early.push(at);
    pause = Math.min(2 * pause, lookupInterval);
  }
  return [...early, first, first + lookupInterval];
}

/** So many droplets that lists do not show yet are read by their ids; more are awaited, for this number of lists. */
const [maxById, maxLagging] = [25, 6];

/** A droplet that was created this recently, by the server's clock, may belong to a run that has only just ended. */
const recentMs = 600_000;

/** With `--if-exists fail`, no existing droplet may have one of the names of the batch when it begins. */
function requireNamesAvailable({ batch, baseline, wasSent }: BatchState): void {
  const taken = Object.entries(baseline()?.existing ?? {});
  if (batch.if_exists !== 'fail' || taken.length === 0 || wasSent()) return;
  const listed = taken.slice(0, 20).map(([name, ids]) => `${name} (${ids.join(', ')})`);
  const more = taken.length > listed.length ? ` and ${taken.length - listed.length} more` : '';
  throw usageError(
    `${countOf(taken.length, 'name is', 'names are')} used by existing droplets`,
    'skip these names with `--if-exists skip`, or create more droplets of the same name with `--if-exists create`',
    `${listed.join(', ')}${more}`,
  );
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

const maxAttempts = 3;

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

/** What the last lookup of a run found. */
interface Duplicates {
  /** Names for which this run and another one, or two requests of the batch, have created a droplet each. */
  readonly names: readonly string[];
  /** Whether the server lists droplets of the batch by their tag; undefined for a batch without tags. */
  readonly hasTagged: boolean | undefined;
}

/**
 * Looks the created names up once more. A second droplet that did not exist when the batch began, or has the tag of the batch,
 * makes the name `unknown`: its row lists the ids, and the name is never sent again. With `--if-exists create` only the tag counts,
 * because more droplets of a name were asked for.
 */
export async function recordDuplicates(
  run: Run,
  names: readonly string[],
  attempts = maxFinalAttempts,
): Promise<Duplicates> {
  const { state } = run.ledger;
  const tag = exclusiveTag(state.batch);
  const isAsked = state.batch.if_exists === 'create';
  const own =
    tag === undefined
      ? undefined
      : (await patiently(run, attempts, () => findTagged(run.lane, state, run.ending))).droplets.own;
  const ids = new Map<number, readonly string[]>(own);
  if (!isAsked && names.length > 0) {
    const wanted = new Set(names);
    const has = (name: string): boolean => wanted.has(name);
    const query = { names, has, isKnown: ({ id, name }: Droplet) => isKnown(state, name, id) };
    const { droplets } = await patiently(run, attempts, () => run.finder.find(query, run.ending));
    for (const [name, found] of droplets) {
      const at = state.positionOf(name);
      const others = found.filter(({ id }) => !isKnown(state, name, id));
      if (others.length > 0) ids.set(at, [...new Set([...(ids.get(at) ?? []), ...others.map(({ id }) => id)])]);
    }
  }
  const several = [...ids]
    .map(([at, some]) => [at, withRowId(state, at, some)] as const)
    .filter(([, some]) => some.length > 1);
  recordTagged(several, run.ledger);
  run.ledger.record({ event: 'checked' });
  return {
    names: several.map(([at]) => state.batch.names[at] ?? ''),
    hasTagged: own === undefined ? undefined : own.size > 0,
  };
}

function isKnown({ baseline, ownsId }: BatchState, name: string, id: string): boolean {
  const before = baseline()?.existing ?? {};
  return ownsId(id) || (Object.hasOwn(before, name) && before[name]?.includes(id) === true);
}

/** Names that were skipped although several droplets have them, with the ids of the droplets. */
export function describeOlderDuplicates({ batch, baseline }: BatchState): string | undefined {
  const found = Object.entries(baseline()?.existing ?? {}).filter(([, ids]) => ids.length > 1);
  if (batch.if_exists !== 'skip' || found.length === 0) return undefined;
  // All of them: the run that created them may have been killed, and then nothing else names their ids.
  const listed = found.map(([name, ids]) => `${name} (${ids.join(', ')})`);
  return `Several droplets have the same name: ${listed.join(', ')}.`;
}

const maxFinalAttempts = 4;

/** The lookup at the end of a run. An error is retried, because no later step would find the duplicates. */
async function patiently<T extends Pick<Found, 'conclusive' | 'hasTotal'>>(
  { clock, times, ending }: Run,
  attempts: number,
  find: () => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await untilConclusive(find);
    } catch (error) {
      const isFinal = !(error instanceof CliError) || error.exitCode === 4 || attempt === attempts;
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
      ledger.record({
        event: 'unknown',
        group: state.nextGroup(),
        names: [row.name],
        error,
        resend: false,
        final: true,
      });
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
    return await scanTagged(lane, state, `?tag_name=${encodeURIComponent(sharedTag(state.batch))}`, signal);
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
  if (!tags.includes(sharedTag(state.batch))) return false;
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
  const tag = tagsOf(raw).find((one) => one.startsWith(`${sharedTag(batch)}:`));
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
