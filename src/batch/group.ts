import type { WayIn } from '../api/problem.ts';
import { CliError } from '../errors.ts';
import { type Fate, fateOf, fateOfFailure } from './answer.ts';
import { type SendingEvent, stampOf } from './event.ts';
import { type InvestigationDeps, investigate, keepDone, type Suspects } from './investigate.ts';
import type { Leash } from './leash.ts';
import type { Line } from './line.ts';
import type { Overdue } from './overdue.ts';
import { createRequest } from './requests.ts';
import type { Doubt } from './roster.ts';

export interface GroupDeps extends InvestigationDeps {
  readonly line: Line;
  readonly overdue: Overdue;
  /** Of the lane. */
  readonly leash: Leash;
  readonly wayIn: WayIn;
  /** Something stopped the batch: nothing more is sent, but what was sent is looked for. */
  readonly stopped: () => boolean;
}

export interface Group {
  readonly id: number;
  readonly names: readonly string[];
  /** On the disk before its first request. */
  readonly isAnnounced: boolean;
}

type Sought = Pick<Group, 'id' | 'names'>;

/** Creates the names of a group; resolves, once their fate is recorded or the run has ended, with what stops the batch. */
export async function createGroup(group: Group, deps: GroupDeps): Promise<CliError | undefined> {
  const { clock, ledger, line, ending, leash } = deps;
  let suspects: Suspects | undefined;
  let sends = 0;
  let { isAnnounced } = group;
  for (;;) {
    let fate: Fate | undefined;
    let names = group.names;
    if (suspects === undefined) {
      // Waiting for the rate limit is no doubt, so the ledger says nothing yet.
      const wait = line.turn(ending);
      if (wait !== undefined) await wait;
      const sending = sendingOf(group, deps);
      if (isAnnounced) ledger.record(sending);
      else await ledger.commit(sending);
      const answer = send(group, deps);
      isAnnounced = false;
      sends += 1;
      fate = await deps.overdue.inTime(answer);
      if (fate === undefined) {
        suspects = { ...suspectsOf(group, names, sends, clock.now()), answer, closedAt: undefined };
        // The answer would change nothing any more.
        const finding = await investigate(suspects, deps).finally(leash.cut);
        if (finding.kind === 'over') return undefined;
        if (finding.kind === 'answered') ({ fate, names } = finding);
      }
    } else {
      const finding = await investigate(suspects, deps);
      if (finding.kind === 'over') return undefined;
    }
    suspects = undefined;
    if (fate === undefined || fate.kind === 'throttled') {
      // Certainly not processed: it is sent again, unless nothing is to be sent any more.
      if (fate?.kind === 'throttled') sends -= 1;
      if (fate !== undefined || deps.stopped()) fail(group, fate?.error ?? notThere, deps);
      if (deps.stopped() || deps.ending.aborted) return undefined;
      continue;
    }
    if (fate.kind === 'failed') {
      fail(group, fate.error, deps);
      return fate.stop;
    }
    const left = fate.kind === 'created' ? keep(group, fate, names, deps) : names;
    if (left.length === 0) return undefined;
    const error = fate.kind === 'doubt' ? fate.error : 'the answer does not name it';
    if (fate.kind === 'doubt') keepDone(group, fate, deps);
    suspects = { ...suspectsOf(group, left, sends, clock.now()), error };
  }
}

/**
 * Looks for the names of a request that an earlier process sent; its connection ended with that process at the latest, so
 * before this one began. True when all that can be known of them is recorded, false when they are certainly not there.
 */
export async function settleDoubt(
  { group, names, error = unanswered }: Pick<Doubt, 'group' | 'names' | 'error'>,
  began: number,
  deps: InvestigationDeps,
): Promise<boolean> {
  const suspects = { ...suspectsOf({ id: group, names }, names, 1, began), error };
  if ((await investigate(suspects, deps)).kind === 'over') return true;
  fail({ id: group, names }, notThere, deps);
  return false;
}

const unanswered = 'it was sent by a process that ended before the answer came';
const notThere = 'looked for, and not there';

function sendingOf({ id, names }: Group, { clock, line }: GroupDeps): SendingEvent {
  return { event: 'sending', at: stampOf(clock), group: id, server_date: line.serverTime(), names };
}

/** Sends the request, of which the ledger knows. */
function send({ names }: Group, { line, ledger, wayIn, leash }: GroupDeps): Promise<Fate> {
  const request = createRequest(names, ledger.roster.batch.attributes, leash.signal());
  return line.request(request).then(
    (got) => fateOf(request, got, wayIn),
    (error: unknown) => {
      if (error instanceof CliError) return fateOfFailure(error);
      throw error;
    },
  );
}

/** Records what was created; the names that were not told of. */
function keep(
  { id }: Group,
  { rows }: Extract<Fate, { kind: 'created' }>,
  names: readonly string[],
  { ledger, clock }: GroupDeps,
): readonly string[] {
  ledger.record({ event: 'created', at: stampOf(clock), group: id, rows });
  const isAll = rows.length === names.length && rows.every(({ name }, at) => name === names[at]);
  return isAll ? [] : names.filter((name) => !rows.some((row) => row.name === name));
}

function fail({ id, names }: Sought, error: string, { ledger, clock }: InvestigationDeps): void {
  ledger.record({ event: 'failed', at: stampOf(clock), group: id, names, error });
}

function suspectsOf({ id }: Sought, names: readonly string[], sends: number, now: number): Suspects {
  return { group: id, names, since: now, closedAt: now, answer: undefined, error: 'no answer came in time', sends };
}
