import type { BatchTimeLimits } from '../sending/batch-time-limits.ts';
import type { CandidateDroplet, DropletWithOtherAttributes } from './candidate-droplets.ts';

/** The result of one lookup of all names in a group. */
export interface RequestGroupLookupResult {
  /** The start time of the lookup in milliseconds. */
  readonly at: number;
  /** Whether the lookup read every droplet, so that a name that was not found certainly has no droplet. */
  readonly conclusive: boolean;
  readonly found: ReadonlyMap<string, readonly CandidateDroplet[]>;
  /** For each name, the ids of droplets that are newer than the start of the batch but older than the creation request. */
  readonly olderDroplets?: ReadonlyMap<string, readonly number[]>;
  /** For each name, the droplets that were created after the request but have other attributes than requested. */
  readonly differentDroplets?: ReadonlyMap<string, readonly DropletWithOtherAttributes[]>;
}

/** A creation request without a complete response, and the lookups that were made afterwards. */
export interface UncertainRequest {
  readonly names: readonly string[];
  /** The time at which the response became late or the connection ended, whichever was first. */
  readonly uncertainSince: number;
  /** The time at which the connection ended; undefined while the response may still arrive. */
  readonly closedAt: number | undefined;
  /** The number of creation requests that this run has sent for the group. */
  readonly sends: number;
  /** Whether the group may be sent again once lookups prove that no droplet exists. */
  readonly resend: boolean;
  /** Whether droplets are recognized by the tag of `--mark`, so that creation times are not compared. */
  readonly marked: boolean;
  readonly lookups: readonly RequestGroupLookupResult[];
}

export type UncertainRequestStep =
  | { readonly kind: 'look-up'; readonly at: number }
  /** Wait for the response, because a lookup before the time `until` would prove nothing. */
  | { readonly kind: 'wait'; readonly until: number }
  | { readonly kind: 'adopt'; readonly ids: ReadonlyMap<string, number> }
  | { readonly kind: 'send' }
  | {
      readonly kind: 'unknown';
      /** The droplets that were found, by name. */
      readonly ids: ReadonlyMap<string, number>;
      readonly error: string;
      readonly resend: boolean;
    };

const maxSends = 3;
const maxInconclusive = 3;

/**
 * Decides the next step for a group with an unknown result. The step depends only on the lookups and the time in
 * milliseconds: record the droplets as created when all were found, send the names again when lookups prove that no droplet
 * exists, otherwise look up again or report the result as unknown.
 */
export function nextUncertainRequestStep(
  uncertain: UncertainRequest,
  now: number,
  timings: BatchTimeLimits,
): UncertainRequestStep {
  const { lookups, closedAt } = uncertain;
  const last = lookups.at(-1);
  if (last === undefined) return { kind: 'look-up', at: uncertain.uncertainSince };
  const next: UncertainRequestStep = { kind: 'look-up', at: Math.max(last.at + timings.lookupInterval, now) };
  if (closedAt === undefined) return stepWhileOpen(uncertain, now, timings, next);
  if (isInconclusive(lookups, closedAt))
    return unknownStep(
      'could not look up the name: lists of droplets changed while they were read, or could not be read',
      true,
    );
  if (!last.conclusive) return next;
  const summary = summarizeLookup(uncertain, last, timings);
  switch (summary.kind) {
    case 'all':
      return { kind: 'adopt', ids: summary.ids };
    case 'several':
      return unknownStep(summary.error, false);
    case 'some':
      return stepWhenSomeFound(uncertain, summary.ids, now, timings);
    case 'none':
      return stepWhenNoneFound(uncertain, closedAt, now, timings);
    default:
      return summary satisfies never;
  }
}

/**
 * Decides the next step while the connection of the creation request is open. Its response can still arrive and then
 * determines the result; a lookup determines the result only if it found all droplets of the request.
 */
function stepWhileOpen(
  uncertain: UncertainRequest,
  now: number,
  timings: BatchTimeLimits,
  next: UncertainRequestStep,
): UncertainRequestStep {
  const last = uncertain.lookups.at(-1);
  const summary = last?.conclusive === true ? summarizeLookup(uncertain, last, timings) : undefined;
  if (summary?.kind === 'all') {
    const first = uncertain.lookups.find(
      (lookup) => lookup.conclusive && summarizeLookup(uncertain, lookup, timings).kind === 'all',
    );
    const until = (first?.at ?? now) + timings.responseGrace;
    return now >= until ? { kind: 'adopt', ids: summary.ids } : { kind: 'wait', until };
  }
  const end = uncertain.uncertainSince + timings.responseLimit;
  if (now < end) return next.kind === 'look-up' && next.at > end ? { kind: 'wait', until: end } : next;
  if (summary?.kind === 'several') return unknownStep(summary.error, false);
  if (summary?.kind === 'some') return unknownStep(partlyFound, false, summary.ids);
  return unknownStep('the server received the request and has not responded', !foundAny(uncertain));
}

function stepWhenSomeFound(
  uncertain: UncertainRequest,
  ids: ReadonlyMap<string, number>,
  now: number,
  timings: BatchTimeLimits,
): UncertainRequestStep {
  const first = uncertain.lookups.find((lookup) => lookupFoundAny(lookup)) ?? uncertain.lookups.at(-1);
  const end = (first?.at ?? now) + timings.partialLimit;
  const last = uncertain.lookups.at(-1)?.at ?? now;
  if (last >= end) return unknownStep(partlyFound, false, ids);
  return { kind: 'look-up', at: Math.min(last + timings.lookupInterval, end) };
}

/**
 * A lookup proves that no droplet exists only if it started some time after the connection of the creation request ended.
 */
function stepWhenNoneFound(
  uncertain: UncertainRequest,
  closedAt: number,
  now: number,
  timings: BatchTimeLimits,
): UncertainRequestStep {
  if (foundAny(uncertain)) return stepWhenSomeFound(uncertain, new Map(), now, timings);
  const from = closedAt + timings.settleDelay;
  const conclusive = uncertain.lookups.filter((lookup) => lookup.conclusive && lookup.at >= from);
  const [first, last] = [conclusive[0], conclusive.at(-1)];
  if (first === undefined || last === undefined) return { kind: 'look-up', at: from };
  if (last.at - first.at < timings.lookupInterval) return { kind: 'look-up', at: first.at + timings.lookupInterval };
  if (!uncertain.resend)
    return unknownStep('the request was carried out in part, and no droplet with this name was found', false);
  const older = formatIds(seenInAny(uncertain, ({ olderDroplets }) => olderDroplets));
  if (older !== '')
    return unknownStep(
      `a droplet with this name exists that is older than the request by the server's clock (${older})`,
      true,
    );
  const different = formatDifferences(seenInAny(uncertain, ({ differentDroplets }) => differentDroplets));
  if (different !== '')
    return unknownStep(`a droplet with this name exists that differs from the request (${different})`, true);
  if (uncertain.sends >= maxSends)
    return unknownStep(`the name was sent ${uncertain.sends} times, and no droplet was found`, true);
  return { kind: 'send' };
}

type LookupSummary =
  | { readonly kind: 'all' | 'some'; readonly ids: ReadonlyMap<string, number> }
  | { readonly kind: 'none' }
  | { readonly kind: 'several'; readonly error: string };

function summarizeLookup(
  { names, marked }: UncertainRequest,
  lookup: RequestGroupLookupResult,
  timings: BatchTimeLimits,
): LookupSummary {
  const of = (name: string): readonly CandidateDroplet[] => lookup.found.get(name) ?? [];
  const ambiguous = names.filter((name) => of(name).length > 1);
  if (ambiguous.length > 0) {
    const listed = formatIds(new Map(ambiguous.map((name) => [name, of(name).map(({ id }) => id)])));
    return { kind: 'several', error: `several droplets match (${listed})` };
  }
  const candidates = names.flatMap((name) => of(name).map((candidate) => [name, candidate] as const));
  if (candidates.length === 0) return { kind: 'none' };
  const ids = new Map(candidates.map(([name, { id }]) => [name, id]));
  const times = candidates.map(([, { createdAt }]) => createdAt).filter((time) => !Number.isNaN(time));
  if (!marked && Math.max(...times) - Math.min(...times) > timings.maxCreationSpread) {
    const listed = [...ids].map(([name, id]) => `${name}: ${id}`);
    return {
      kind: 'several',
      error: `the droplets that match were not created at the same time (${listed.join('; ')})`,
    };
  }
  return { kind: ids.size === names.length ? 'all' : 'some', ids };
}

/** For each name, the result of the latest lookup that found it, because a later lookup may have read an outdated list. */
function seenInAny<T>(
  { lookups }: UncertainRequest,
  seen: (lookup: RequestGroupLookupResult) => ReadonlyMap<string, readonly T[]> | undefined,
): ReadonlyMap<string, readonly T[]> {
  return new Map(lookups.flatMap((lookup) => [...(seen(lookup) ?? [])]));
}

function formatIds(ids: ReadonlyMap<string, readonly number[]>): string {
  return [...ids].map(([name, some]) => `${name}: ${some.join(', ')}`).join('; ');
}

function formatDifferences(droplets: ReadonlyMap<string, readonly DropletWithOtherAttributes[]>): string {
  return [...droplets]
    .flatMap(([name, some]) => some.map(({ id, difference }) => `${name}: ${id}, ${difference}`))
    .join('; ');
}

function isInconclusive(lookups: readonly RequestGroupLookupResult[], closedAt: number): boolean {
  const latest = lookups.filter(({ at }) => at >= closedAt).slice(-maxInconclusive);
  return latest.length === maxInconclusive && latest.every(({ conclusive }) => !conclusive);
}

function foundAny({ lookups }: UncertainRequest): boolean {
  return lookups.some(lookupFoundAny);
}

/** An inconclusive lookup can miss droplets, but the droplets that it found exist. */
function lookupFoundAny(lookup: RequestGroupLookupResult): boolean {
  return [...lookup.found.values()].some((candidates) => candidates.length > 0);
}

const partlyFound = 'other droplets of the same request exist, but none with this name was found';

function unknownStep(
  error: string,
  resend: boolean,
  ids: ReadonlyMap<string, number> = new Map(),
): UncertainRequestStep {
  return { kind: 'unknown', ids, error, resend };
}
