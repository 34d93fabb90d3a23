import { CliError } from '../errors.ts';
import type { BatchLedgerState, UncertainRequestGroup } from './ledger/batch-ledger-state.ts';
import {
  type DropletRequestGroupDeps,
  sendDropletRequestGroup,
  settleUncertainRequestGroup,
} from './sending/droplet-request-group.ts';
import {
  createDropletRequestGroupQueue,
  type DropletRequestGroupQueue,
  type DropletRequestGroupQueueOptions,
  recordUnsentRequestGroups,
} from './sending/group-queue.ts';
import { createInFlightRequestAborter } from './sending/in-flight-request-aborter.ts';
import { createLateResponseDetector } from './sending/late-response-detector.ts';

/**
 * The local time, in milliseconds, after which the server can no longer receive a request of an earlier, ended run. The
 * kernel may still send data of the ended process for some time after each request.
 */
export function latestArrivalOfEarlierRequests(
  state: Pick<BatchLedgerState, 'uncertainGroups'>,
  { clock, timings }: Pick<DropletRequestGroupDeps, 'clock' | 'timings'>,
): number {
  const now = clock.now();
  const sent = state.uncertainGroups().flatMap(({ sentAt }) => (sentAt === undefined ? [] : [sentAt]));
  const last = sent.reduce((latest, one) => Math.max(latest, one), Number.NEGATIVE_INFINITY);
  // The system clock may have been set back since the earlier run.
  return Math.max(now, Math.min(last, now) + timings.orphanLimit);
}

export interface CreateMissingDropletsOptions
  extends DropletRequestGroupQueueOptions,
    Omit<DropletRequestGroupDeps, 'isStopped' | 'lateResponses' | 'abortScope'> {
  /** The response time in milliseconds after which a response counts as late. */
  readonly timeout: number;
  /** Called with the names of a group when their result is final in this run; the returned promise is awaited. */
  readonly onSettled: (names: readonly string[]) => Promise<void> | undefined;
}

/**
 * Creates the droplets that the ledger lists as missing: first it resolves uncertain groups, then it sends the missing names.
 * Resolves with the error that stopped the batch, or undefined if no error stopped it. The state of the ledger contains the
 * result of each name.
 */
export async function createMissingDroplets(options: CreateMissingDropletsOptions): Promise<CliError | undefined> {
  const { ledger, ending } = options;
  const { state } = ledger;
  let stop: CliError | undefined;
  let unexpected: { readonly error: unknown } | undefined;
  const lateResponses = createLateResponseDetector(options.clock, options.timeout, options.ended);
  const deps: Omit<DropletRequestGroupDeps, 'abortScope'> = {
    ...options,
    lateResponses,
    isStopped: () => stop !== undefined || unexpected !== undefined,
  };
  const stopWith = (error: unknown): undefined => {
    if (error instanceof CliError) stop ??= error;
    else if (!ending.aborted) unexpected ??= { error };
  };
  // An error in the reporting callback stops the batch, but requests in flight are still awaited.
  const reportFailed = (error: unknown): void => {
    unexpected ??= { error };
  };
  const report = (names: readonly string[]): Promise<void> | undefined => {
    try {
      return options.onSettled(names)?.catch(reportFailed);
    } catch (error) {
      reportFailed(error);
      return undefined;
    }
  };
  const endedAt = latestArrivalOfEarlierRequests(state, options);
  const settle = async (group: UncertainRequestGroup): Promise<void> => {
    if (await settleUncertainRequestGroup(group, endedAt, deps)) await report(group.names);
  };
  const worker = async (take: DropletRequestGroupQueue['take']): Promise<void> => {
    // While a worker sends a group, the results of its previous group are printed. Reports of the same worker never overlap.
    let reporting: Promise<void> | undefined;
    const abortScope = createInFlightRequestAborter(options.ended);
    const workerDeps = { ...deps, abortScope };
    while (!deps.isStopped() && !ending.aborted) {
      const group = await take().catch(stopWith);
      if (group === undefined) break;
      try {
        const stopped = await sendDropletRequestGroup(group, workerDeps);
        stop ??= stopped;
      } catch (error) {
        stopWith(error);
      }
      if (reporting !== undefined) await reporting;
      reporting = report(group.names);
    }
    abortScope.close();
    await reporting;
  };
  try {
    recordUnsentRequestGroups(options);
    // All uncertain groups are resolved at the same time, so that they share lookups, and before any droplet is requested, so
    // that the lists do not change.
    await Promise.all(state.uncertainGroups().map((group) => settle(group).catch(stopWith)));
    const { count, take } = createDropletRequestGroupQueue(options);
    await Promise.all(Array.from({ length: Math.min(options.concurrency, count) }, () => worker(take)));
  } finally {
    lateResponses.close();
  }
  try {
    recordUnsentRequestGroups(options);
    ledger.flush();
  } catch (error) {
    stopWith(error);
  }
  if (unexpected !== undefined) throw unexpected.error;
  return stop;
}
