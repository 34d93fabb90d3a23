import type { RefusedRequestHints } from '../../api/api-response.ts';
import { CliError } from '../../errors.ts';
import { formatBatchLedgerTimestamp, type RequestGroupSendingLedgerEvent } from '../ledger/batch-ledger-event.ts';
import type { UncertainRequestGroup } from '../ledger/batch-ledger-state.ts';
import {
  forbidResendIfRequestProcessed,
  type ResolveUncertainRequestDeps,
  resolveUncertainRequest,
  type UncertainRequestNames,
} from '../lookup/resolve-uncertain.ts';
import type { DropletUserData } from '../options/user-data.ts';
import { buildDropletCreationRequest } from './droplet-creation-requests.ts';
import type { InFlightRequestAborter } from './in-flight-request-aborter.ts';
import type { LateResponseDetector } from './late-response-detector.ts';
import type { RateLimitedSender } from './rate-limited-sender.ts';
import {
  type CreationRequestOutcome,
  determineCreationRequestOutcome,
  determineOutcomeOfFailedRequest,
} from './request-outcome.ts';

export interface DropletRequestGroupDeps extends ResolveUncertainRequestDeps {
  readonly lane: RateLimitedSender;
  readonly lateResponses: LateResponseDetector;
  /** Aborts the request of the worker that processes the group. */
  readonly abortScope: InFlightRequestAborter;
  readonly loginHints: RefusedRequestHints;
  /** Called when names are sent again because lookups found no droplet of their first request. */
  readonly onSentAgain?: () => void;
  readonly userData?: DropletUserData | undefined;
  /** Whether an error has stopped the batch: no further request is sent, but names that were sent are still looked up. */
  readonly isStopped: () => boolean;
}

export interface DropletRequestGroup {
  readonly id: number;
  readonly names: readonly string[];
  /** Whether the ledger has announced the group, so that its `sending` event need not be synced. */
  readonly isAnnounced: boolean;
}

type GroupNames = Pick<DropletRequestGroup, 'id' | 'names'>;

/**
 * Creates the droplets of a group of names. Resolves when the result of every name is recorded or the run has ended; the value
 * is the error that stops the batch, if any.
 */
export async function sendDropletRequestGroup(
  group: DropletRequestGroup,
  deps: DropletRequestGroupDeps,
): Promise<CliError | undefined> {
  const { clock, ledger, lane, ending, abortScope } = deps;
  let uncertainNames: UncertainRequestNames | undefined;
  let sends = 0;
  let { isAnnounced } = group;
  for (;;) {
    let outcome: CreationRequestOutcome | undefined;
    let names = group.names;
    if (uncertainNames === undefined) {
      // While a group waits for the rate limit, it is not sent, so the ledger has no event of the group yet.
      const wait = lane.waitForTurn(ending);
      if (wait !== undefined) await wait;
      const sending = sendingEvent(group, deps);
      if (isAnnounced) ledger.record(sending);
      else await ledger.commit(sending);
      const response = sendGroup(group, deps);
      isAnnounced = false;
      sends += 1;
      outcome = await deps.lateResponses.withinLimit(response);
      if (outcome === undefined) {
        uncertainNames = { ...uncertainNamesOf(group, names, sends, clock.now()), response, closedAt: undefined };
        // After `resolveUncertainRequest`, the response is not needed any more, so the request is aborted.
        const resolution = await resolveUncertainRequest(uncertainNames, deps).finally(abortScope.abort);
        if (resolution.kind === 'over') return undefined;
        if (resolution.kind === 'answered') ({ outcome, names } = resolution);
      }
    } else {
      const resolution = await resolveUncertainRequest(uncertainNames, deps);
      if (resolution.kind === 'over') return undefined;
    }
    uncertainNames = undefined;
    if (outcome === undefined || outcome.kind === 'throttled') {
      // The server did not process the request, so the names are sent again unless the batch has stopped.
      if (outcome?.kind === 'throttled') sends -= 1;
      if (outcome !== undefined || deps.isStopped()) recordFailed(group, outcome?.error ?? notFoundText, deps);
      if (deps.isStopped() || deps.ending.aborted) return undefined;
      if (outcome === undefined) deps.onSentAgain?.();
      continue;
    }
    if (outcome.kind === 'failed') {
      recordFailed(group, outcome.error, deps);
      return outcome.stop;
    }
    const left = outcome.kind === 'created' ? recordCreated(group, outcome, names, deps) : names;
    if (left.length === 0) return undefined;
    const error = outcome.kind === 'uncertain' ? outcome.error : 'the response does not contain the droplet';
    if (outcome.kind === 'uncertain') forbidResendIfRequestProcessed(group, outcome, deps);
    uncertainNames = { ...uncertainNamesOf(group, left, sends, clock.now()), error };
  }
}

/**
 * Looks up the names of a request that an earlier process sent. Resolves with true when the result is recorded, and with false
 * when no droplet exists. @param endedAt time in milliseconds after which the earlier process and its kernel certainly no
 * longer send the request
 */
export async function settleUncertainRequestGroup(
  { group, names, error = noResponse }: Pick<UncertainRequestGroup, 'group' | 'names' | 'error'>,
  endedAt: number,
  deps: ResolveUncertainRequestDeps,
): Promise<boolean> {
  const sent = uncertainNamesOf({ id: group, names }, names, 1, deps.clock.now());
  const uncertainNames = { ...sent, closedAt: endedAt, error };
  if ((await resolveUncertainRequest(uncertainNames, deps)).kind === 'over') return true;
  recordFailed({ id: group, names }, notFoundText, deps);
  return false;
}

const noResponse = 'an earlier run sent the request and ended before the response arrived';
const notFoundText = 'lookups found no droplet with this name';

function sendingEvent(
  { id, names }: DropletRequestGroup,
  { clock, lane }: DropletRequestGroupDeps,
): RequestGroupSendingLedgerEvent {
  return { event: 'sending', at: formatBatchLedgerTimestamp(clock), group: id, server_date: lane.serverTime(), names };
}

/** Sends the creation request of a group of names. The caller must record the `sending` event of the group before. */
function sendGroup(
  { names }: DropletRequestGroup,
  { lane, ledger, loginHints, abortScope, userData }: DropletRequestGroupDeps,
): Promise<CreationRequestOutcome> {
  const request = buildDropletCreationRequest(names, ledger.state.batch.attributes, {
    signal: abortScope.signal(),
    userData,
  });
  return lane.request(request).then(
    (got) => determineCreationRequestOutcome(request, got, loginHints),
    (error: unknown) => {
      if (error instanceof CliError) return determineOutcomeOfFailedRequest(error);
      throw error;
    },
  );
}

/** Records the created droplets; returns the names that the response does not contain. */
function recordCreated(
  { id }: DropletRequestGroup,
  { rows }: Extract<CreationRequestOutcome, { kind: 'created' }>,
  names: readonly string[],
  { ledger, clock }: DropletRequestGroupDeps,
): readonly string[] {
  ledger.record({ event: 'created', at: formatBatchLedgerTimestamp(clock), group: id, rows });
  const isAll = rows.length === names.length && rows.every(({ name }, at) => name === names[at]);
  return isAll ? [] : names.filter((name) => !rows.some((row) => row.name === name));
}

function recordFailed({ id, names }: GroupNames, error: string, { ledger, clock }: ResolveUncertainRequestDeps): void {
  ledger.record({ event: 'failed', at: formatBatchLedgerTimestamp(clock), group: id, names, error });
}

function uncertainNamesOf(
  { id }: GroupNames,
  names: readonly string[],
  sends: number,
  now: number,
): UncertainRequestNames {
  return {
    group: id,
    names,
    uncertainSince: now,
    closedAt: now,
    response: undefined,
    error: 'no response arrived in time',
    sends,
  };
}
