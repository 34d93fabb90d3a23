import type { LoginHints } from '../api/api-response.ts';
import { CliError } from '../errors.ts';
import type { AbortScope } from './abort-scope.ts';
import type { UncertainGroup } from './batch-state.ts';
import { createDropletRequest } from './droplet-requests.ts';
import type { LateResponseTimer } from './late-response.ts';
import { ledgerTimestamp, type SendingEvent } from './ledger-event.ts';
import { outcomeOfFailure, outcomeOfResponse, type RequestOutcome } from './request-outcome.ts';
import {
  type ResolveUncertainDeps,
  recordMustNotResend,
  resolveUncertain,
  type UncertainNames,
} from './resolve-uncertain.ts';
import type { SendLane } from './send-lane.ts';

export interface DropletGroupDeps extends ResolveUncertainDeps {
  readonly lane: SendLane;
  readonly lateResponses: LateResponseTimer;
  /** Of the lane. */
  readonly abortScope: AbortScope;
  readonly loginHints: LoginHints;
  /** Something stopped the batch: nothing more is sent, but what was sent is looked for. */
  readonly isStopped: () => boolean;
}

export interface DropletGroup {
  readonly id: number;
  readonly names: readonly string[];
  /** On the disk before its first request. */
  readonly isAnnounced: boolean;
}

type GroupNames = Pick<DropletGroup, 'id' | 'names'>;

/** Creates the names of a group; resolves, once their fate is recorded or the run has ended, with what stops the batch. */
export async function createDropletGroup(group: DropletGroup, deps: DropletGroupDeps): Promise<CliError | undefined> {
  const { clock, ledger, lane: line, ending, abortScope: leash } = deps;
  let suspects: UncertainNames | undefined;
  let sends = 0;
  let { isAnnounced } = group;
  for (;;) {
    let fate: RequestOutcome | undefined;
    let names = group.names;
    if (suspects === undefined) {
      // Waiting for the rate limit is no doubt, so the ledger says nothing yet.
      const wait = line.waitForTurn(ending);
      if (wait !== undefined) await wait;
      const sending = sendingEvent(group, deps);
      if (isAnnounced) ledger.record(sending);
      else await ledger.commit(sending);
      const answer = sendGroup(group, deps);
      isAnnounced = false;
      sends += 1;
      fate = await deps.lateResponses.withinLimit(answer);
      if (fate === undefined) {
        suspects = { ...uncertainNamesOf(group, names, sends, clock.now()), response: answer, closedAt: undefined };
        // The answer would change nothing any more.
        const finding = await resolveUncertain(suspects, deps).finally(leash.abort);
        if (finding.kind === 'over') return undefined;
        if (finding.kind === 'answered') ({ fate, names } = finding);
      }
    } else {
      const finding = await resolveUncertain(suspects, deps);
      if (finding.kind === 'over') return undefined;
    }
    suspects = undefined;
    if (fate === undefined || fate.kind === 'throttled') {
      // Certainly not processed: it is sent again, unless nothing is to be sent any more.
      if (fate?.kind === 'throttled') sends -= 1;
      if (fate !== undefined || deps.isStopped()) recordFailed(group, fate?.error ?? notFoundText, deps);
      if (deps.isStopped() || deps.ending.aborted) return undefined;
      continue;
    }
    if (fate.kind === 'failed') {
      recordFailed(group, fate.error, deps);
      return fate.stop;
    }
    const left = fate.kind === 'created' ? recordCreated(group, fate, names, deps) : names;
    if (left.length === 0) return undefined;
    const error = fate.kind === 'doubt' ? fate.error : 'the answer does not name it';
    if (fate.kind === 'doubt') recordMustNotResend(group, fate, deps);
    suspects = { ...uncertainNamesOf(group, left, sends, clock.now()), error };
  }
}

/**
 * Looks for the names of a request that an earlier process sent; its connection ended with that process at the latest, so
 * before this one began. True when all that can be known of them is recorded, false when they are certainly not there.
 */
export async function settleUncertainGroup(
  { group, names, error = noResponse }: Pick<UncertainGroup, 'group' | 'names' | 'error'>,
  began: number,
  deps: ResolveUncertainDeps,
): Promise<boolean> {
  const suspects = { ...uncertainNamesOf({ id: group, names }, names, 1, began), error };
  if ((await resolveUncertain(suspects, deps)).kind === 'over') return true;
  recordFailed({ id: group, names }, notFoundText, deps);
  return false;
}

const noResponse = 'it was sent by a process that ended before the answer came';
const notFoundText = 'looked for, and not there';

function sendingEvent({ id, names }: DropletGroup, { clock, lane: line }: DropletGroupDeps): SendingEvent {
  return { event: 'sending', at: ledgerTimestamp(clock), group: id, server_date: line.serverTime(), names };
}

/** Sends the request, of which the ledger knows. */
function sendGroup(
  { names }: DropletGroup,
  { lane: line, ledger, loginHints: wayIn, abortScope: leash }: DropletGroupDeps,
): Promise<RequestOutcome> {
  const request = createDropletRequest(names, ledger.state.batch.attributes, leash.signal());
  return line.request(request).then(
    (got) => outcomeOfResponse(request, got, wayIn),
    (error: unknown) => {
      if (error instanceof CliError) return outcomeOfFailure(error);
      throw error;
    },
  );
}

/** Records what was created; the names that were not told of. */
function recordCreated(
  { id }: DropletGroup,
  { rows }: Extract<RequestOutcome, { kind: 'created' }>,
  names: readonly string[],
  { ledger, clock }: DropletGroupDeps,
): readonly string[] {
  ledger.record({ event: 'created', at: ledgerTimestamp(clock), group: id, rows });
  const isAll = rows.length === names.length && rows.every(({ name }, at) => name === names[at]);
  return isAll ? [] : names.filter((name) => !rows.some((row) => row.name === name));
}

function recordFailed({ id, names }: GroupNames, error: string, { ledger, clock }: ResolveUncertainDeps): void {
  ledger.record({ event: 'failed', at: ledgerTimestamp(clock), group: id, names, error });
}

function uncertainNamesOf({ id }: GroupNames, names: readonly string[], sends: number, now: number): UncertainNames {
  return {
    group: id,
    names,
    uncertainSince: now,
    closedAt: now,
    response: undefined,
    error: 'no answer came in time',
    sends,
  };
}
