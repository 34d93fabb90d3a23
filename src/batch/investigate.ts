import { CliError } from '../errors.ts';
import type { Clock } from '../platform/host.ts';
import type { Fate } from './answer.ts';
import { candidates, elders, wantedOf } from './candidate.ts';
import { judgeDoubt, type Look, type Verdict } from './doubt.ts';
import { type CreatedRow, stampOf } from './event.ts';
import type { Ledger } from './ledger.ts';
import type { Lookups } from './lookup.ts';
import type { Waits } from './waits.ts';

export interface InvestigationDeps {
  readonly lookups: Lookups;
  readonly ledger: Pick<Ledger, 'record' | 'commit' | 'roster' | 'boot' | 'flush'>;
  readonly clock: Clock;
  readonly waits: Waits;
  /** Nothing more is to be sent. */
  readonly ending: AbortSignal;
  /** Nothing more is to be awaited. */
  readonly ended: AbortSignal;
}

/** Names in doubt: their request ended without a complete answer, or the answer is overdue. */
export interface Suspects {
  readonly group: number;
  readonly names: readonly string[];
  readonly since: number;
  readonly closedAt: number | undefined;
  /** Still to come, while the connection is open. */
  readonly answer: Promise<Fate> | undefined;
  readonly error: string;
  readonly sends: number;
}

export type Finding =
  /** All that can be known is recorded. */
  | { readonly kind: 'over' }
  /** The answer came after all. */
  | { readonly kind: 'answered'; readonly fate: Fate; readonly names: readonly string[] }
  /** Certainly not there. */
  | { readonly kind: 'absent' };

/** Looks for the names until the rules of `judgeDoubt` decide, the late answer does, or the run ends. */
export async function investigate(suspects: Suspects, deps: InvestigationDeps): Promise<Finding> {
  const { clock, ledger, ending, ended, waits } = deps;
  const looks: Look[] = [];
  let now = suspects;
  for (;;) {
    // A lookup can be made by a later run as well: only an answer is worth waiting for.
    if (ended.aborted || (ending.aborted && now.answer === undefined)) return { kind: 'over' };
    const { resend = true } = doubtOf(now.group, deps) ?? {};
    const verdict = judgeDoubt({ ...now, resend, marked: ledger.roster.batch.mark, looks }, clock.now(), waits);
    if (verdict.kind === 'send') return { kind: 'absent' };
    if (verdict.kind === 'adopt' || verdict.kind === 'unknown') {
      settle(verdict, now, deps);
      return { kind: 'over' };
    }
    const until = verdict.kind === 'look' ? verdict.at : verdict.until;
    const wait = ending.aborted ? waits.interrupt : until - clock.now();
    const fate = await firstOf(now.answer, wait, clock, now.answer === undefined ? ending : ended);
    if (fate !== undefined && fate.kind !== 'doubt') return { kind: 'answered', fate, names: now.names };
    if (fate !== undefined) keepDone({ id: now.group, names: now.names }, fate, deps);
    if (fate !== undefined) now = { ...now, answer: undefined, closedAt: clock.now(), error: fate.error };
    else if (verdict.kind === 'look' && !ending.aborted) looks.push(await look(now, deps));
  }
}

/** Something came of the request: neither this run nor a later one may send it again. */
export function keepDone(
  { id, names }: { readonly id: number; readonly names: readonly string[] },
  { error, isDone }: Extract<Fate, { kind: 'doubt' }>,
  { ledger, clock }: Pick<InvestigationDeps, 'ledger' | 'clock'>,
): void {
  if (isDone === true) ledger.record({ event: 'unknown', at: stampOf(clock), group: id, names, error, resend: false });
}

/** The answer, if it comes in time and before the signal. */
async function firstOf<T>(
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

function settle(
  verdict: Extract<Verdict, { kind: 'adopt' | 'unknown' }>,
  { group, names, error }: Suspects,
  { ledger, clock }: InvestigationDeps,
): void {
  const rows = [...verdict.ids].map(([name, id]): CreatedRow => ({ name, id }));
  const at = stampOf(clock);
  if (rows.length > 0) ledger.record({ event: 'created', at, group, adopted: true, rows });
  if (verdict.kind === 'adopt') return;
  const left = names.filter((name) => !verdict.ids.has(name));
  // An earlier run may have come to the same end.
  const told = error.includes(verdict.error) ? error : `${error}; ${verdict.error}`;
  ledger.record({ event: 'unknown', at, group, names: left, error: told, resend: verdict.resend });
}

async function look(suspects: Suspects, deps: InvestigationDeps): Promise<Look> {
  const { names } = suspects;
  const at = deps.clock.now();
  const wanted = wantedOf(deps.ledger.roster, doubtOf(suspects.group, deps)?.since);
  try {
    const { conclusive, droplets } = await deps.lookups.find(
      { names, has: (name) => names.includes(name) },
      deps.ending,
    );
    const found = names.map((name) => [name, candidates(name, droplets.get(name) ?? [], wanted)] as const);
    const old = names.map((name) => [name, elders(name, droplets.get(name) ?? [], wanted)] as const);
    return { at, conclusive, found: new Map(found), elders: new Map(old.filter(([, ids]) => ids.length > 0)) };
  } catch (error) {
    // A server in trouble is asked again; a session that ended or a limit that is reached stops the batch.
    const stops = !(error instanceof CliError) || error.exitCode === 4 || error.exitCode === 5;
    if (stops && !deps.ending.aborted) throw error;
    return { at, conclusive: false, found: new Map() };
  }
}

function doubtOf(group: number, { ledger }: InvestigationDeps) {
  return ledger.roster.doubts().find((doubt) => doubt.group === group);
}
