import { CliError } from '../base/errors.ts';
import type { Clock } from '../platform/host.ts';
import type { Group } from './events.ts';
import type { Run } from './io.ts';
import type { Ledger } from './ledger.ts';
import { createdAt, originOf } from './match.ts';
import type { Outcome } from './request.ts';
import type { BatchState } from './state.ts';
import type { TimeLimits } from './times.ts';

/** The names of a creation request whose response is late, incomplete or lost. */
export interface UncertainNames extends Sent {
  readonly group: number;
  /** The response to the creation request, which can arrive as long as the connection is open. */
  readonly response: Promise<Outcome> | undefined;
  readonly error: string;
}

type Resolution =
  /** The result of the names is recorded, or the run has ended. */
  | { readonly kind: 'over' }
  /** The late response to the creation request arrived. */
  | { readonly kind: 'answered'; readonly outcome: Outcome; readonly names: readonly string[] }
  /** Lookups proved that no droplet with the names exists. */
  | { readonly kind: 'absent' };

/** Looks the names up until `nextStep` determines their result, the late response arrives, or the run ends. */
export async function resolveUncertain(uncertain: UncertainNames, run: Run): Promise<Resolution> {
  const { clock, ledger, ending, ended, times } = run;
  const lookups: GroupLookup[] = [];
  let current = uncertain;
  for (;;) {
    // When the user interrupts the batch, only the response in flight is awaited; a resumed run can repeat the lookups.
    if (ended.aborted || (ending.aborted && current.response === undefined)) return { kind: 'over' };
    const { resend = true } = uncertainGroupOf(current.group, run) ?? {};
    const step = nextStep(
      { ...current, resend, marked: ledger.state.batch.content_hash !== undefined, lookups },
      clock.now(),
      times,
    );
    if (step.kind === 'send') return { kind: 'absent' };
    if (step.kind === 'adopt' || step.kind === 'unknown') {
      recordStep(step, current, ledger);
      return { kind: 'over' };
    }
    const until = step.kind === 'look-up' ? step.at : step.until;
    const wait = ending.aborted ? times.interruptLimit : until - clock.now();
    const outcome = await responseWithin(
      current.response,
      wait,
      clock,
      current.response === undefined ? ending : ended,
    );
    if (outcome !== undefined && outcome.kind !== 'uncertain')
      return { kind: 'answered', outcome, names: current.names };
    if (outcome !== undefined) {
      forbidResend(current, outcome, ledger);
      const { error, isAnswered } = outcome;
      if (isAnswered === true) for (const name of current.names) run.answered.add(name);
      current = { ...current, response: undefined, closedAt: clock.now(), error, isAnswered };
    } else if (step.kind === 'look-up' && !ending.aborted) lookups.push(await lookUpGroup(current, run));
  }
}

/** Records that the server carried out at least a part of the request, so that no run may send it again. */
export function forbidResend(
  { group, names }: Group,
  { error, isDone }: Extract<Outcome, { kind: 'uncertain' }>,
  ledger: Ledger,
): void {
  if (isDone === true) ledger.record({ event: 'unknown', group, names, error, resend: false });
}

/** Returns the response if it arrives within `ms` milliseconds and before the signal is aborted; otherwise undefined. */
async function responseWithin<T>(
  response: Promise<T> | undefined,
  ms: number,
  clock: Clock,
  signal: AbortSignal,
): Promise<T | undefined> {
  const timeout = new AbortController();
  const end = (): void => timeout.abort();
  if (signal.aborted) end();
  signal.addEventListener('abort', end);
  const elapsed = clock.sleep(Math.max(0, ms), timeout.signal).then(
    () => undefined,
    () => undefined,
  );
  try {
    return await (response === undefined ? elapsed : Promise.race([response, elapsed]));
  } finally {
    signal.removeEventListener('abort', end);
    end();
  }
}

function recordStep(
  step: Extract<Step, { kind: 'adopt' | 'unknown' }>,
  { group, names, error }: UncertainNames,
  ledger: Ledger,
): void {
  const rows = [...step.ids].map(([name, id]) => ({ name, id }));
  if (rows.length > 0) ledger.record({ event: 'created', group, adopted: true, rows });
  if (step.kind === 'adopt') return;
  const left = names.filter((name) => !step.ids.has(name));
  // The recorded error already contains the reason if an earlier run has added it.
  const reason = error.includes(step.error) ? error : `${error}; ${step.error}`;
  ledger.record({
    event: 'unknown',
    group,
    names: left,
    error: reason,
    resend: step.resend,
    ...(step.final ? { final: true } : {}),
  });
}

async function lookUpGroup({ group, names }: UncertainNames, run: Run): Promise<GroupLookup> {
  const { clock, ending, finder, ledger } = run;
  const at = clock.now();
  const sentAfter = uncertainGroupOf(group, run)?.sentAfter;
  const found = new Map<string, Candidate[]>();
  const older = new Map<string, string[]>();
  const different = new Map<string, Different[]>();
  try {
    const { conclusive, droplets } = await finder.find({ names, has: (name) => names.includes(name) }, ending);
    for (const droplet of names.flatMap((name) => droplets.get(name) ?? [])) {
      const { id, name, raw } = droplet;
      if (run.foreign.has(id)) continue;
      const origin = originOf(droplet, ledger.state, sentAfter);
      if (origin.kind === 'ours') add(found, name, { id, createdAt: createdAt(raw) });
      if (origin.kind === 'older') add(older, name, id);
      if (origin.kind === 'different') add(different, name, { id, difference: origin.difference });
    }
    return { at, conclusive, found, older, different };
  } catch (error) {
    // Lookups that fail with a server error are retried. An ended session or an exhausted rate limit stops the batch.
    const stops = !(error instanceof CliError) || error.exitCode === 4 || error.exitCode === 5;
    if (stops && !ending.aborted) throw error;
    return { at, conclusive: false, found: new Map() };
  }
}

function add<T>(lists: Map<string, T[]>, name: string, one: T): void {
  const list = lists.get(name);
  if (list === undefined) lists.set(name, [one]);
  else list.push(one);
}

function uncertainGroupOf(group: number, { ledger }: Run) {
  return ledger.state.uncertainGroups().find((uncertainGroup) => uncertainGroup.group === group);
}

/**
 * The local time, in milliseconds, after which the server can no longer receive a request of an earlier, ended run. The
 * kernel may still send data of the ended process for some time after each request.
 */
export function latestArrival(
  state: Pick<BatchState, 'uncertainGroups'>,
  { clock, times }: Pick<Run, 'clock' | 'times'>,
): number {
  const now = clock.now();
  const sent = state.uncertainGroups().flatMap(({ sentAt }) => (sentAt === undefined ? [] : [sentAt]));
  const last = sent.reduce((latest, one) => Math.max(latest, one), Number.NEGATIVE_INFINITY);
  // The system clock may have been set back since the earlier run.
  return Math.max(now, Math.min(last, now) + times.orphanLimit);
}

/** A droplet that the request may have created. */
interface Candidate {
  readonly id: string;
  /** In milliseconds; NaN if the server does not return it. */
  readonly createdAt: number;
}

/** A droplet that appeared after the request, with the difference in words, such as `region nyc3 instead of nyc`. */
interface Different {
  readonly id: string;
  readonly difference: string;
}

/** The result of one lookup of all names in a group; droplets by name, as `originOf` judges them. */
export interface GroupLookup {
  /** The start time of the lookup in milliseconds. */
  readonly at: number;
  /** Whether the lookup read every droplet, so that a name that was not found certainly has no droplet. */
  readonly conclusive: boolean;
  readonly found: ReadonlyMap<string, readonly Candidate[]>;
  readonly older?: ReadonlyMap<string, readonly string[]>;
  readonly different?: ReadonlyMap<string, readonly Different[]>;
}

/** A creation request without a complete response. */
interface Sent {
  readonly names: readonly string[];
  /** The time at which the response became late or the connection ended, whichever was first. */
  readonly uncertainSince: number;
  /** The time at which the connection ended; undefined while the response may still arrive. */
  readonly closedAt: number | undefined;
  /** The number of creation requests that this run has sent for the group. */
  readonly sends: number;
  /** Whether a complete response with a status of success arrived: this run does not send the names again. */
  readonly isAnswered?: true | undefined;
}

/** A creation request without a complete response, and the lookups that were made afterwards. */
export interface Uncertain extends Sent {
  /** Whether the group may be sent again once lookups prove that no droplet exists. */
  readonly resend: boolean;
  /** Whether droplets are recognized by the tag of `--batch-id`, so that creation times are not compared. */
  readonly marked: boolean;
  readonly lookups: readonly GroupLookup[];
}

export type Step =
  | { readonly kind: 'look-up'; readonly at: number }
  /** Wait for the response, because a lookup before the time `until` would prove nothing. */
  | { readonly kind: 'wait'; readonly until: number }
  | { readonly kind: 'adopt'; readonly ids: ReadonlyMap<string, string> }
  | { readonly kind: 'send' }
  | {
      readonly kind: 'unknown';
      /** The droplets that were found, by name. */
      readonly ids: ReadonlyMap<string, string>;
      readonly error: string;
      readonly resend: boolean;
      /** Whether further lookups would find the same. */
      readonly final?: true;
    };

const maxSends = 3;
const maxInconclusive = 3;

/**
 * Decides the next step for a group with an unknown result. The step depends only on the lookups and the time in
 * milliseconds: record the droplets as created when all were found, send the names again when lookups prove that no droplet
 * exists, otherwise look up again or report the result as unknown.
 */
export function nextStep(uncertain: Uncertain, now: number, times: TimeLimits): Step {
  const { lookups, closedAt } = uncertain;
  const last = lookups.at(-1);
  if (last === undefined) return { kind: 'look-up', at: uncertain.uncertainSince };
  const next: Step = { kind: 'look-up', at: Math.max(last.at + times.lookupInterval, now) };
  if (closedAt === undefined) return stepWhileOpen(uncertain, now, times, next);
  if (isInconclusive(lookups, closedAt))
    return unknownStep(
      'could not look up the name: lists of droplets changed while they were read, or could not be read',
      true,
    );
  if (!last.conclusive) return next;
  const summary = summarizeLookup(uncertain, last, times);
  switch (summary.kind) {
    case 'all':
      return { kind: 'adopt', ids: summary.ids };
    case 'several':
      return final(unknownStep(summary.error, false));
    case 'some':
      return stepWhenSomeFound(uncertain, summary.ids, now, times);
    case 'none':
      return stepWhenNoneFound(uncertain, closedAt, now, times);
    default:
      return summary satisfies never;
  }
}

/**
 * Decides the next step while the connection of the creation request is open. Its response can still arrive and then
 * determines the result; a lookup determines the result only if it found all droplets of the request.
 */
function stepWhileOpen(uncertain: Uncertain, now: number, times: TimeLimits, next: Step): Step {
  const last = uncertain.lookups.at(-1);
  const summary = last?.conclusive === true ? summarizeLookup(uncertain, last, times) : undefined;
  if (summary?.kind === 'all') {
    const first = uncertain.lookups.find(
      (lookup) => lookup.conclusive && summarizeLookup(uncertain, lookup, times).kind === 'all',
    );
    const until = (first?.at ?? now) + times.responseGrace;
    return now >= until ? { kind: 'adopt', ids: summary.ids } : { kind: 'wait', until };
  }
  const end = uncertain.uncertainSince + times.responseLimit;
  if (now < end) return next.kind === 'look-up' && next.at > end ? { kind: 'wait', until: end } : next;
  if (summary?.kind === 'several') return final(unknownStep(summary.error, false));
  if (summary?.kind === 'some') return unknownStep(partlyFound, false, summary.ids);
  return unknownStep('the server received the request and has not responded', !foundAny(uncertain));
}

function stepWhenSomeFound(
  uncertain: Uncertain,
  ids: ReadonlyMap<string, string>,
  now: number,
  times: TimeLimits,
): Step {
  const first = uncertain.lookups.find((lookup) => lookupFoundAny(lookup)) ?? uncertain.lookups.at(-1);
  const end = (first?.at ?? now) + times.partialLimit;
  const last = uncertain.lookups.at(-1)?.at ?? now;
  if (last >= end) return unknownStep(partlyFound, false, ids);
  return { kind: 'look-up', at: Math.min(last + times.lookupInterval, end) };
}

/**
 * A lookup proves that no droplet exists only if it started some time after the connection of the creation request ended.
 */
function stepWhenNoneFound(uncertain: Uncertain, closedAt: number, now: number, times: TimeLimits): Step {
  if (foundAny(uncertain)) return stepWhenSomeFound(uncertain, new Map(), now, times);
  const from = closedAt + times.settleDelay;
  const conclusive = uncertain.lookups.filter((lookup) => lookup.conclusive && lookup.at >= from);
  const [first, last] = [conclusive[0], conclusive.at(-1)];
  if (first === undefined || last === undefined) return { kind: 'look-up', at: from };
  if (last.at - first.at < times.lookupInterval) return { kind: 'look-up', at: first.at + times.lookupInterval };
  if (!uncertain.resend)
    return unknownStep('the request was carried out in part, and no droplet with this name was found', false);
  const older = formatIds(seenInAny(uncertain, ({ older }) => older));
  if (older !== '')
    return final(
      unknownStep(
        `a droplet with this name exists that is older than the request by the server's clock (${older})`,
        true,
      ),
    );
  const different = formatDifferences(seenInAny(uncertain, ({ different }) => different));
  if (different !== '')
    return final(unknownStep(`a droplet with this name exists that differs from the request (${different})`, true));
  if (uncertain.isAnswered === true) {
    // The droplets probably exist, and the lists may lag for longer than a request without a response needs to arrive.
    const end = closedAt + times.partialLimit;
    if (last.at < end) return { kind: 'look-up', at: Math.min(last.at + times.lookupInterval, end) };
    return unknownStep('no droplet with this name was found', true);
  }
  if (uncertain.sends >= maxSends)
    return unknownStep(`the name was sent ${uncertain.sends} times, and no droplet was found`, true);
  return { kind: 'send' };
}

type LookupSummary =
  | { readonly kind: 'all' | 'some'; readonly ids: ReadonlyMap<string, string> }
  | { readonly kind: 'none' }
  | { readonly kind: 'several'; readonly error: string };

function summarizeLookup({ names, marked }: Uncertain, lookup: GroupLookup, times: TimeLimits): LookupSummary {
  const of = (name: string): readonly Candidate[] => lookup.found.get(name) ?? [];
  const ambiguous = names.filter((name) => of(name).length > 1);
  if (ambiguous.length > 0) {
    const listed = formatIds(new Map(ambiguous.map((name) => [name, of(name).map(({ id }) => id)])));
    return { kind: 'several', error: `several droplets match (${listed})` };
  }
  const candidates = names.flatMap((name) => of(name).map((candidate) => [name, candidate] as const));
  if (candidates.length === 0) return { kind: 'none' };
  const ids = new Map(candidates.map(([name, { id }]) => [name, id]));
  const created = candidates.map(([, { createdAt }]) => createdAt).filter((time) => !Number.isNaN(time));
  if (!marked && Math.max(...created) - Math.min(...created) > times.maxCreationSpread) {
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
  { lookups }: Uncertain,
  seen: (lookup: GroupLookup) => ReadonlyMap<string, readonly T[]> | undefined,
): ReadonlyMap<string, readonly T[]> {
  return new Map(lookups.flatMap((lookup) => [...(seen(lookup) ?? [])]));
}

function formatIds(ids: ReadonlyMap<string, readonly string[]>): string {
  return [...ids].map(([name, some]) => `${name}: ${some.join(', ')}`).join('; ');
}

function formatDifferences(droplets: ReadonlyMap<string, readonly Different[]>): string {
  return [...droplets]
    .flatMap(([name, some]) => some.map(({ id, difference }) => `${name}: ${id}, ${difference}`))
    .join('; ');
}

function isInconclusive(lookups: readonly GroupLookup[], closedAt: number): boolean {
  const latest = lookups.filter(({ at }) => at >= closedAt).slice(-maxInconclusive);
  return latest.length === maxInconclusive && latest.every(({ conclusive }) => !conclusive);
}

function foundAny({ lookups }: Uncertain): boolean {
  return lookups.some(lookupFoundAny);
}

/** An inconclusive lookup can miss droplets, but the droplets that it found exist. */
function lookupFoundAny(lookup: GroupLookup): boolean {
  return [...lookup.found.values()].some((candidates) => candidates.length > 0);
}

const partlyFound = 'other droplets of the same request exist, but none with this name was found';

type UnknownStep = Extract<Step, { kind: 'unknown' }>;

function unknownStep(error: string, resend: boolean, ids: ReadonlyMap<string, string> = new Map()): UnknownStep {
  return { kind: 'unknown', ids, error, resend };
}

function final(step: UnknownStep): UnknownStep {
  return { ...step, final: true };
}
