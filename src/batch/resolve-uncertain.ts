import { CliError } from '../errors.ts';
import type { Clock } from '../platform/host.ts';
import type { BatchTimings } from './batch-timings.ts';
import { candidateCriteria, findCandidates, findOlderDroplets } from './candidate-droplets.ts';
import type { DropletLookup } from './droplet-lookup.ts';
import type { Ledger } from './ledger.ts';
import { type CreatedRow, ledgerTimestamp } from './ledger-event.ts';
import type { RequestOutcome } from './request-outcome.ts';
import { type GroupLookup, nextUncertainStep, type UncertainStep } from './uncertain-step.ts';

export interface ResolveUncertainDeps {
  readonly lookup: DropletLookup;
  readonly ledger: Pick<Ledger, 'record' | 'commit' | 'state' | 'bootId' | 'flush'>;
  readonly clock: Clock;
  readonly timings: BatchTimings;
  /** Nothing more is to be sent. */
  readonly ending: AbortSignal;
  /** Nothing more is to be awaited. */
  readonly ended: AbortSignal;
}

/** Names in doubt: their request ended without a complete answer, or the answer is overdue. */
export interface UncertainNames {
  readonly group: number;
  readonly names: readonly string[];
  readonly uncertainSince: number;
  readonly closedAt: number | undefined;
  /** Still to come, while the connection is open. */
  readonly response: Promise<RequestOutcome> | undefined;
  readonly error: string;
  readonly sends: number;
}

export type UncertainResolution =
  /** All that can be known is recorded. */
  | { readonly kind: 'over' }
  /** The answer came after all. */
  | { readonly kind: 'answered'; readonly fate: RequestOutcome; readonly names: readonly string[] }
  /** Certainly not there. */
  | { readonly kind: 'absent' };

/** Looks for the names until the rules of `judgeDoubt` decide, the late answer does, or the run ends. */
export async function resolveUncertain(
  suspects: UncertainNames,
  deps: ResolveUncertainDeps,
): Promise<UncertainResolution> {
  const { clock, ledger, ending, ended, timings } = deps;
  const looks: GroupLookup[] = [];
  let now = suspects;
  for (;;) {
    // A lookup can be made by a later run as well: only an answer is worth waiting for.
    if (ended.aborted || (ending.aborted && now.response === undefined)) return { kind: 'over' };
    const { resend = true } = uncertainGroupOf(now.group, deps) ?? {};
    const verdict = nextUncertainStep(
      { ...now, resend, marked: ledger.state.batch.mark, lookups: looks },
      clock.now(),
      timings,
    );
    if (verdict.kind === 'send') return { kind: 'absent' };
    if (verdict.kind === 'adopt' || verdict.kind === 'unknown') {
      recordStep(verdict, now, deps);
      return { kind: 'over' };
    }
    const until = verdict.kind === 'look' ? verdict.at : verdict.until;
    const wait = ending.aborted ? timings.interruptLimit : until - clock.now();
    const fate = await responseWithin(now.response, wait, clock, now.response === undefined ? ending : ended);
    if (fate !== undefined && fate.kind !== 'doubt') return { kind: 'answered', fate, names: now.names };
    if (fate !== undefined) recordMustNotResend({ id: now.group, names: now.names }, fate, deps);
    if (fate !== undefined) now = { ...now, response: undefined, closedAt: clock.now(), error: fate.error };
    else if (verdict.kind === 'look' && !ending.aborted) looks.push(await lookUpGroup(now, deps));
  }
}

/** Something came of the request: neither this run nor a later one may send it again. */
export function recordMustNotResend(
  { id, names }: { readonly id: number; readonly names: readonly string[] },
  { error, isDone }: Extract<RequestOutcome, { kind: 'doubt' }>,
  { ledger, clock }: Pick<ResolveUncertainDeps, 'ledger' | 'clock'>,
): void {
  if (isDone === true)
    ledger.record({ event: 'unknown', at: ledgerTimestamp(clock), group: id, names, error, resend: false });
}

/** The answer, if it comes in time and before the signal. */
async function responseWithin<T>(
  answer: Promise<T> | undefined,
  ms: number,
  clock: Clock,
  signal: AbortSignal,
): Promise<T | undefined> {
  const over = new AbortController();
  const end = (): void => over.abort();
  if (signal.aborted) end();
  signal.addEventListener('abort', end);
  const late = clock.sleep(Math.max(0, ms), over.signal).then(
    () => undefined,
    () => undefined,
  );
  try {
    return await (answer === undefined ? late : Promise.race([answer, late]));
  } finally {
    signal.removeEventListener('abort', end);
    end();
  }
}

function recordStep(
  verdict: Extract<UncertainStep, { kind: 'adopt' | 'unknown' }>,
  { group, names, error }: UncertainNames,
  { ledger, clock }: ResolveUncertainDeps,
): void {
  const rows = [...verdict.ids].map(([name, id]): CreatedRow => ({ name, id }));
  const at = ledgerTimestamp(clock);
  if (rows.length > 0) ledger.record({ event: 'created', at, group, adopted: true, rows });
  if (verdict.kind === 'adopt') return;
  const left = names.filter((name) => !verdict.ids.has(name));
  // An earlier run may have come to the same end.
  const told = error.includes(verdict.error) ? error : `${error}; ${verdict.error}`;
  ledger.record({ event: 'unknown', at, group, names: left, error: told, resend: verdict.resend });
}

async function lookUpGroup(suspects: UncertainNames, deps: ResolveUncertainDeps): Promise<GroupLookup> {
  const { names } = suspects;
  const at = deps.clock.now();
  const wanted = candidateCriteria(deps.ledger.state, uncertainGroupOf(suspects.group, deps)?.sentAfter);
  try {
    const { conclusive, droplets } = await deps.lookup.find(
      { names, has: (name) => names.includes(name) },
      deps.ending,
    );
    const found = names.map((name) => [name, findCandidates(name, droplets.get(name) ?? [], wanted)] as const);
    const old = names.map((name) => [name, findOlderDroplets(name, droplets.get(name) ?? [], wanted)] as const);
    return { at, conclusive, found: new Map(found), olderDroplets: new Map(old.filter(([, ids]) => ids.length > 0)) };
  } catch (error) {
    // A server in trouble is asked again; a session that ended or a limit that is reached stops the batch.
    const stops = !(error instanceof CliError) || error.exitCode === 4 || error.exitCode === 5;
    if (stops && !deps.ending.aborted) throw error;
    return { at, conclusive: false, found: new Map() };
  }
}

function uncertainGroupOf(group: number, { ledger }: ResolveUncertainDeps) {
  return ledger.state.uncertainGroups().find((doubt) => doubt.group === group);
}
