import type { Sighting } from './candidate.ts';
import type { Waits } from './waits.ts';

/** One lookup of all names of a group. */
export interface Look {
  /** When it began. */
  readonly at: number;
  /** It saw all there was to see. */
  readonly conclusive: boolean;
  readonly found: ReadonlyMap<string, readonly Sighting[]>;
  /** Droplets that were not there before the batch and yet are older than the request, by name. */
  readonly elders?: ReadonlyMap<string, readonly number[]>;
}

/** A request without a complete answer, and what was seen since. */
export interface DoubtCase {
  readonly names: readonly string[];
  /** When the answer was overdue, or the connection ended, whichever came first. */
  readonly since: number;
  /** When the connection ended; undefined while the answer may still come. */
  readonly closedAt: number | undefined;
  /** Requests sent for this group in this run. */
  readonly sends: number;
  /** Nothing speaks against sending it again once it is sure that it is not there. */
  readonly resend: boolean;
  /** The tag is the evidence, so times prove nothing. */
  readonly marked: boolean;
  readonly looks: readonly Look[];
}

export type Verdict =
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

const mostSends = 3;
const mostInconclusive = 3;

/** What to do next about a group in doubt (the four rules of the batch page): a decision from what was seen, and nothing else. */
export function judgeDoubt(doubt: DoubtCase, now: number, waits: Waits): Verdict {
  const { looks, closedAt } = doubt;
  const last = looks.at(-1);
  if (last === undefined) return { kind: 'look', at: doubt.since };
  const next: Verdict = { kind: 'look', at: Math.max(last.at + waits.apart, now) };
  if (closedAt === undefined) return whileOpen(doubt, now, waits, next);
  if (undecided(looks, closedAt))
    return unknown('it could not be looked up: the lists changed or could not be read', true);
  if (!last.conclusive) return next;
  const seen = judgeLook(doubt, last, waits);
  switch (seen.kind) {
    case 'all':
      return { kind: 'adopt', ids: seen.ids };
    case 'several':
      return unknown(seen.error, false);
    case 'some':
      return whenSome(doubt, seen.ids, now, waits);
    case 'none':
      return whenNone(doubt, closedAt, now, waits);
    default:
      return seen satisfies never;
  }
}

/** The answer decides for as long as it can come; without one only droplets that were all found are taken. */
function whileOpen(doubt: DoubtCase, now: number, waits: Waits, next: Verdict): Verdict {
  const last = doubt.looks.at(-1);
  const seen = last?.conclusive === true ? judgeLook(doubt, last, waits) : undefined;
  if (seen?.kind === 'all') {
    const first = doubt.looks.find((look) => look.conclusive && judgeLook(doubt, look, waits).kind === 'all');
    const until = (first?.at ?? now) + waits.grace;
    return now >= until ? { kind: 'adopt', ids: seen.ids } : { kind: 'wait', until };
  }
  const end = doubt.since + waits.answer;
  if (now < end) return next.kind === 'look' && next.at > end ? { kind: 'wait', until: end } : next;
  if (seen?.kind === 'several') return unknown(seen.error, false);
  if (seen?.kind === 'some') return unknown(partlyThere, false, seen.ids);
  return unknown('the server took the request and has not answered it', !sawAny(doubt));
}

function whenSome(doubt: DoubtCase, ids: ReadonlyMap<string, number>, now: number, waits: Waits): Verdict {
  const first = doubt.looks.find((look) => anyFound(look)) ?? doubt.looks.at(-1);
  const end = (first?.at ?? now) + waits.partial;
  const last = doubt.looks.at(-1)?.at ?? now;
  if (last >= end) return unknown(partlyThere, false, ids);
  return { kind: 'look', at: Math.min(last + waits.apart, end) };
}

/** Only lookups that began well after the connection ended can tell that nothing is there. */
function whenNone(doubt: DoubtCase, closedAt: number, now: number, waits: Waits): Verdict {
  if (sawAny(doubt)) return whenSome(doubt, new Map(), now, waits);
  const from = closedAt + waits.settle;
  const late = doubt.looks.filter((look) => look.conclusive && look.at >= from);
  const [first, last] = [late[0], late.at(-1)];
  if (first === undefined || last === undefined) return { kind: 'look', at: from };
  if (last.at - first.at < waits.apart) return { kind: 'look', at: first.at + waits.apart };
  if (!doubt.resend) return unknown('part of its request was done, and it was not found', false);
  const old = toldOf(last.elders ?? new Map());
  if (old !== '')
    return unknown(
      `a droplet of the name is there that is older than the request by the server's clocks (${old})`,
      true,
    );
  if (doubt.sends >= mostSends) return unknown(`sent ${doubt.sends} times, and not found`, true);
  return { kind: 'send' };
}

type Seen =
  | { readonly kind: 'all' | 'some'; readonly ids: ReadonlyMap<string, number> }
  | { readonly kind: 'none' }
  | { readonly kind: 'several'; readonly error: string };

function judgeLook({ names, marked }: DoubtCase, look: Look, waits: Waits): Seen {
  const of = (name: string): readonly Sighting[] => look.found.get(name) ?? [];
  const crowded = names.filter((name) => of(name).length > 1);
  if (crowded.length > 0) {
    const told = toldOf(new Map(crowded.map((name) => [name, of(name).map(({ id }) => id)])));
    return { kind: 'several', error: `more than one droplet may be it (${told})` };
  }
  const sightings = names.flatMap((name) => of(name).map((sighting) => [name, sighting] as const));
  if (sightings.length === 0) return { kind: 'none' };
  const ids = new Map(sightings.map(([name, { id }]) => [name, id]));
  const times = sightings.map(([, { createdAt }]) => createdAt).filter((time) => !Number.isNaN(time));
  if (!marked && Math.max(...times) - Math.min(...times) > waits.together) {
    const told = [...ids].map(([name, id]) => `${name}: ${id}`);
    return { kind: 'several', error: `the droplets found were not made together (${told.join('; ')})` };
  }
  return { kind: ids.size === names.length ? 'all' : 'some', ids };
}

function toldOf(ids: ReadonlyMap<string, readonly number[]>): string {
  return [...ids].map(([name, some]) => `${name}: ${some.join(', ')}`).join('; ');
}

function undecided(looks: readonly Look[], closedAt: number): boolean {
  const latest = looks.filter(({ at }) => at >= closedAt).slice(-mostInconclusive);
  return latest.length === mostInconclusive && latest.every(({ conclusive }) => !conclusive);
}

function sawAny({ looks }: DoubtCase): boolean {
  return looks.some(anyFound);
}

/** Whatever the look missed, what it saw is there. */
function anyFound(look: Look): boolean {
  return [...look.found.values()].some((sightings) => sightings.length > 0);
}

const partlyThere = 'other droplets of its request are there, and it was not found';

function unknown(error: string, resend: boolean, ids: ReadonlyMap<string, number> = new Map()): Verdict {
  return { kind: 'unknown', ids, error, resend };
}
