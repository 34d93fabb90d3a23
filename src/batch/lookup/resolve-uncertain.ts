import { CliError } from '../../errors.ts';
import type { Clock } from '../../platform/host.ts';
import type { BatchLedger } from '../ledger/batch-ledger.ts';
import { formatBatchLedgerTimestamp, type LedgerCreatedDroplet } from '../ledger/batch-ledger-event.ts';
import type { BatchTimeLimits } from '../sending/batch-time-limits.ts';
import type { CreationRequestOutcome } from '../sending/request-outcome.ts';
import {
  buildCandidateDropletCriteria,
  findCandidateDroplets,
  findDropletsOlderThanRequest,
  findDropletsWithOtherAttributes,
} from './candidate-droplets.ts';
import type { DropletByNameFinder } from './droplet-by-name-finder.ts';
import {
  nextUncertainRequestStep,
  type RequestGroupLookupResult,
  type UncertainRequestStep,
} from './uncertain-request-step.ts';

export interface ResolveUncertainRequestDeps {
  readonly lookup: DropletByNameFinder;
  readonly ledger: Pick<BatchLedger, 'record' | 'commit' | 'state' | 'bootId' | 'flush'>;
  readonly clock: Clock;
  readonly timings: BatchTimeLimits;
  /** Once this signal is aborted, no further request is sent. */
  readonly ending: AbortSignal;
  /** Once this signal is aborted, the run no longer waits for responses. */
  readonly ended: AbortSignal;
}

/** The names of a creation request whose response is late, incomplete or lost. */
export interface UncertainRequestNames {
  readonly group: number;
  readonly names: readonly string[];
  readonly uncertainSince: number;
  readonly closedAt: number | undefined;
  /** The response to the creation request, which can arrive as long as the connection is open. */
  readonly response: Promise<CreationRequestOutcome> | undefined;
  readonly error: string;
  readonly sends: number;
}

export type UncertainRequestResolution =
  /** The result of the names is recorded, or the run has ended. */
  | { readonly kind: 'over' }
  /** The late response to the creation request arrived. */
  | { readonly kind: 'answered'; readonly outcome: CreationRequestOutcome; readonly names: readonly string[] }
  /** Lookups proved that no droplet with the names exists. */
  | { readonly kind: 'absent' };

/** Looks the names up until `nextUncertainRequestStep` determines their result, the late response arrives, or the run ends. */
export async function resolveUncertainRequest(
  uncertain: UncertainRequestNames,
  deps: ResolveUncertainRequestDeps,
): Promise<UncertainRequestResolution> {
  const { clock, ledger, ending, ended, timings } = deps;
  const lookups: RequestGroupLookupResult[] = [];
  let current = uncertain;
  for (;;) {
    // When the user interrupts the batch, only the response in flight is awaited; a resumed run can repeat the lookups.
    if (ended.aborted || (ending.aborted && current.response === undefined)) return { kind: 'over' };
    const { resend = true } = uncertainGroupOf(current.group, deps) ?? {};
    const step = nextUncertainRequestStep(
      { ...current, resend, marked: ledger.state.batch.mark, lookups },
      clock.now(),
      timings,
    );
    if (step.kind === 'send') return { kind: 'absent' };
    if (step.kind === 'adopt' || step.kind === 'unknown') {
      recordStep(step, current, deps);
      return { kind: 'over' };
    }
    const until = step.kind === 'look-up' ? step.at : step.until;
    const wait = ending.aborted ? timings.interruptLimit : until - clock.now();
    const outcome = await responseWithin(
      current.response,
      wait,
      clock,
      current.response === undefined ? ending : ended,
    );
    if (outcome !== undefined && outcome.kind !== 'uncertain')
      return { kind: 'answered', outcome, names: current.names };
    if (outcome !== undefined)
      forbidResendIfRequestProcessed({ id: current.group, names: current.names }, outcome, deps);
    if (outcome !== undefined)
      current = { ...current, response: undefined, closedAt: clock.now(), error: outcome.error };
    else if (step.kind === 'look-up' && !ending.aborted) lookups.push(await lookUpGroup(current, deps));
  }
}

/** Records that the server carried out at least a part of the request, so that no run may send it again. */
export function forbidResendIfRequestProcessed(
  { id, names }: { readonly id: number; readonly names: readonly string[] },
  { error, isDone }: Extract<CreationRequestOutcome, { kind: 'uncertain' }>,
  { ledger, clock }: Pick<ResolveUncertainRequestDeps, 'ledger' | 'clock'>,
): void {
  if (isDone === true)
    ledger.record({ event: 'unknown', at: formatBatchLedgerTimestamp(clock), group: id, names, error, resend: false });
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
  step: Extract<UncertainRequestStep, { kind: 'adopt' | 'unknown' }>,
  { group, names, error }: UncertainRequestNames,
  { ledger, clock }: ResolveUncertainRequestDeps,
): void {
  const rows = [...step.ids].map(([name, id]): LedgerCreatedDroplet => ({ name, id }));
  const at = formatBatchLedgerTimestamp(clock);
  if (rows.length > 0) ledger.record({ event: 'created', at, group, adopted: true, rows });
  if (step.kind === 'adopt') return;
  const left = names.filter((name) => !step.ids.has(name));
  // The recorded error already contains the reason if an earlier run has added it.
  const reason = error.includes(step.error) ? error : `${error}; ${step.error}`;
  ledger.record({ event: 'unknown', at, group, names: left, error: reason, resend: step.resend });
}

async function lookUpGroup(
  uncertain: UncertainRequestNames,
  deps: ResolveUncertainRequestDeps,
): Promise<RequestGroupLookupResult> {
  const { names } = uncertain;
  const at = deps.clock.now();
  const criteria = buildCandidateDropletCriteria(deps.ledger.state, uncertainGroupOf(uncertain.group, deps)?.sentAfter);
  try {
    const { conclusive, droplets } = await deps.lookup.find(
      { names, has: (name) => names.includes(name) },
      deps.ending,
    );
    const found = names.map((name) => [name, findCandidateDroplets(name, droplets.get(name) ?? [], criteria)] as const);
    const byName = <T>(find: (name: string) => readonly T[]): ReadonlyMap<string, readonly T[]> =>
      new Map(names.map((name) => [name, find(name)] as const).filter(([, some]) => some.length > 0));
    return {
      at,
      conclusive,
      found: new Map(found),
      olderDroplets: byName((name) => findDropletsOlderThanRequest(name, droplets.get(name) ?? [], criteria)),
      differentDroplets: byName((name) => findDropletsWithOtherAttributes(name, droplets.get(name) ?? [], criteria)),
    };
  } catch (error) {
    // Lookups that fail with a server error are retried. An ended session or an exhausted rate limit stops the batch.
    const stops = !(error instanceof CliError) || error.exitCode === 4 || error.exitCode === 5;
    if (stops && !deps.ending.aborted) throw error;
    return { at, conclusive: false, found: new Map() };
  }
}

function uncertainGroupOf(group: number, { ledger }: ResolveUncertainRequestDeps) {
  return ledger.state.uncertainGroups().find((uncertainGroup) => uncertainGroup.group === group);
}
