import type { BatchTimings } from './batch-timings.ts';
import type { CandidateDroplet } from './candidate-droplets.ts';

/** One lookup of all names of a group. */
export interface GroupLookup {
  /** When it began. */
  readonly at: number;
  /** It saw all there was to see. */
  readonly conclusive: boolean;
  readonly found: ReadonlyMap<string, readonly CandidateDroplet[]>;
  /** Droplets that were not there before the batch and yet are older than the request, by name. */
  readonly olderDroplets?: ReadonlyMap<string, readonly number[]>;
}

/** A request without a complete answer, and what was seen since. */
export interface UncertainCase {
  readonly names: readonly string[];
  /** When the answer was overdue, or the connection ended, whichever came first. */
  readonly uncertainSince: number;
  /** When the connection ended; undefined while the answer may still come. */
  readonly closedAt: number | undefined;
  /** Requests sent for this group in this run. */
  readonly sends: number;
  /** Nothing speaks against sending it again once it is sure that it is not there. */
  readonly resend: boolean;
  /** The tag is the evidence, so times prove nothing. */
  readonly marked: boolean;
  readonly lookups: readonly GroupLookup[];
}

export type UncertainStep =
  | { readonly kind: 'look'; readonly at: number }
  /** The answer alone may change what is known until then. */
  | { readonly kind: 'wait'; readonly until: number }
  | { readonly kind: 'adopt'; readonly ids: ReadonlyMap<string, number> }
  | { readonly kind: 'send' }
  | {
      readonly kind: 'unknown';
      /** Those that were found. */
      readonly ids: ReadonlyMap<string, number>;
      readonly error: string;
      readonly resend: boolean;
    };

const maxSends = 3;
const maxInconclusive = 3;

/** What to do next about a group in doubt (the four rules of the batch page): a decision from what was seen, and nothing else. */
export function nextUncertainStep(doubt: UncertainCase, now: number, waits: BatchTimings): UncertainStep {
  const { lookups: looks, closedAt } = doubt;
  const last = looks.at(-1);
  if (last === undefined) return { kind: 'look', at: doubt.uncertainSince };
  const next: UncertainStep = { kind: 'look', at: Math.max(last.at + waits.lookupInterval, now) };
  if (closedAt === undefined) return stepWhileOpen(doubt, now, waits, next);
  if (isInconclusive(looks, closedAt))
    return unknownStep('it could not be looked up: the lists changed or could not be read', true);
  if (!last.conclusive) return next;
  const seen = summarizeLookup(doubt, last, waits);
  switch (seen.kind) {
    case 'all':
      return { kind: 'adopt', ids: seen.ids };
    case 'several':
      return unknownStep(seen.error, false);
    case 'some':
      return stepWhenSomeFound(doubt, seen.ids, now, waits);
    case 'none':
      return stepWhenNoneFound(doubt, closedAt, now, waits);
    default:
      return seen satisfies never;
  }
}

/** The answer decides for as long as it can come; without one only droplets that were all found are taken. */
function stepWhileOpen(doubt: UncertainCase, now: number, waits: BatchTimings, next: UncertainStep): UncertainStep {
  const last = doubt.lookups.at(-1);
  const seen = last?.conclusive === true ? summarizeLookup(doubt, last, waits) : undefined;
  if (seen?.kind === 'all') {
    const first = doubt.lookups.find((look) => look.conclusive && summarizeLookup(doubt, look, waits).kind === 'all');
    const until = (first?.at ?? now) + waits.responseGrace;
    return now >= until ? { kind: 'adopt', ids: seen.ids } : { kind: 'wait', until };
  }
  const end = doubt.uncertainSince + waits.responseLimit;
  if (now < end) return next.kind === 'look' && next.at > end ? { kind: 'wait', until: end } : next;
  if (seen?.kind === 'several') return unknownStep(seen.error, false);
  if (seen?.kind === 'some') return unknownStep(partlyFound, false, seen.ids);
  return unknownStep('the server took the request and has not answered it', !foundAny(doubt));
}

function stepWhenSomeFound(
  doubt: UncertainCase,
  ids: ReadonlyMap<string, number>,
  now: number,
  waits: BatchTimings,
): UncertainStep {
  const first = doubt.lookups.find((look) => lookupFoundAny(look)) ?? doubt.lookups.at(-1);
  const end = (first?.at ?? now) + waits.partialLimit;
  const last = doubt.lookups.at(-1)?.at ?? now;
  if (last >= end) return unknownStep(partlyFound, false, ids);
  return { kind: 'look', at: Math.min(last + waits.lookupInterval, end) };
}

/** Only lookups that began well after the connection ended can tell that nothing is there. */
function stepWhenNoneFound(doubt: UncertainCase, closedAt: number, now: number, waits: BatchTimings): UncertainStep {
  if (foundAny(doubt)) return stepWhenSomeFound(doubt, new Map(), now, waits);
  const from = closedAt + waits.settleDelay;
  const late = doubt.lookups.filter((look) => look.conclusive && look.at >= from);
  const [first, last] = [late[0], late.at(-1)];
  if (first === undefined || last === undefined) return { kind: 'look', at: from };
  if (last.at - first.at < waits.lookupInterval) return { kind: 'look', at: first.at + waits.lookupInterval };
  if (!doubt.resend) return unknownStep('part of its request was done, and it was not found', false);
  const old = formatIds(last.olderDroplets ?? new Map());
  if (old !== '')
    return unknownStep(
      `a droplet of the name is there that is older than the request by the server's clocks (${old})`,
      true,
    );
  if (doubt.sends >= maxSends) return unknownStep(`sent ${doubt.sends} times, and not found`, true);
  return { kind: 'send' };
}

type LookupSummary =
  | { readonly kind: 'all' | 'some'; readonly ids: ReadonlyMap<string, number> }
  | { readonly kind: 'none' }
  | { readonly kind: 'several'; readonly error: string };

function summarizeLookup({ names, marked }: UncertainCase, look: GroupLookup, waits: BatchTimings): LookupSummary {
  const of = (name: string): readonly CandidateDroplet[] => look.found.get(name) ?? [];
  const crowded = names.filter((name) => of(name).length > 1);
  if (crowded.length > 0) {
    const told = formatIds(new Map(crowded.map((name) => [name, of(name).map(({ id }) => id)])));
    return { kind: 'several', error: `more than one droplet may be it (${told})` };
  }
  const sightings = names.flatMap((name) => of(name).map((sighting) => [name, sighting] as const));
  if (sightings.length === 0) return { kind: 'none' };
  const ids = new Map(sightings.map(([name, { id }]) => [name, id]));
  const times = sightings.map(([, { createdAt }]) => createdAt).filter((time) => !Number.isNaN(time));
  if (!marked && Math.max(...times) - Math.min(...times) > waits.maxCreationSpread) {
    const told = [...ids].map(([name, id]) => `${name}: ${id}`);
    return { kind: 'several', error: `the droplets found were not made together (${told.join('; ')})` };
  }
  return { kind: ids.size === names.length ? 'all' : 'some', ids };
}

function formatIds(ids: ReadonlyMap<string, readonly number[]>): string {
  return [...ids].map(([name, some]) => `${name}: ${some.join(', ')}`).join('; ');
}

function isInconclusive(looks: readonly GroupLookup[], closedAt: number): boolean {
  const latest = looks.filter(({ at }) => at >= closedAt).slice(-maxInconclusive);
  return latest.length === maxInconclusive && latest.every(({ conclusive }) => !conclusive);
}

function foundAny({ lookups: looks }: UncertainCase): boolean {
  return looks.some(lookupFoundAny);
}

/** Whatever the look missed, what it saw is there. */
function lookupFoundAny(look: GroupLookup): boolean {
  return [...look.found.values()].some((sightings) => sightings.length > 0);
}

const partlyFound = 'other droplets of its request are there, and it was not found';

function unknownStep(error: string, resend: boolean, ids: ReadonlyMap<string, number> = new Map()): UncertainStep {
  return { kind: 'unknown', ids, error, resend };
}
