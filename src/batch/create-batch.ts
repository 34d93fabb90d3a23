import { CliError } from '../errors.ts';
import { createAbortScope } from './abort-scope.ts';
import type { UncertainGroup } from './batch-state.ts';
import { createDropletGroup, type DropletGroupDeps, settleUncertainGroup } from './droplet-group.ts';
import { createGroupQueue, type GroupQueue, type GroupQueueOptions, recordUnsentGroups } from './group-queue.ts';
import { createLateResponseTimer } from './late-response.ts';

export interface BatchOptions
  extends GroupQueueOptions,
    Omit<DropletGroupDeps, 'isStopped' | 'lateResponses' | 'abortScope'> {
  /** Milliseconds after which an response is late. */
  readonly timeout: number;
  /** Called with the names of a group once no more is to be known of them in this run; what it gives is waited for. */
  readonly onSettled: (names: readonly string[]) => Promise<void> | undefined;
}

/**
 * Creates what the ledger lacks: groups in doubt are looked for first, then the missing names are sent. Resolves with
 * what stopped the batch, if something did; where each name stands is in the state.
 */
export async function createBatch(options: BatchOptions): Promise<CliError | undefined> {
  const { ledger, ending } = options;
  const { state } = ledger;
  let stop: CliError | undefined;
  let fault: { readonly error: unknown } | undefined;
  const lateResponses = createLateResponseTimer(options.clock, options.timeout, options.ended);
  const deps: Omit<DropletGroupDeps, 'abortScope'> = {
    ...options,
    lateResponses,
    isStopped: () => stop !== undefined || fault !== undefined,
  };
  const failed = (error: unknown): undefined => {
    if (error instanceof CliError) stop ??= error;
    else if (!ending.aborted) fault ??= { error };
  };
  // One that fails stops the batch, but not the groups whose answers are awaited.
  const untold = (error: unknown): void => {
    fault ??= { error };
  };
  const tell = (names: readonly string[]): Promise<void> | undefined => {
    try {
      return options.onSettled(names)?.catch(untold);
    } catch (error) {
      untold(error);
      return undefined;
    }
  };
  const began = options.clock.now();
  const settle = async (doubt: UncertainGroup): Promise<void> => {
    if (await settleUncertainGroup(doubt, began, deps)) await tell(doubt.names);
  };
  const worker = async (take: GroupQueue['take']): Promise<void> => {
    // A group is told while the next one is sent, and one after the other.
    let telling: Promise<void> | undefined;
    const abortScope = createAbortScope(options.ended);
    const means = { ...deps, abortScope };
    while (!deps.isStopped() && !ending.aborted) {
      const group = await take().catch(failed);
      if (group === undefined) break;
      try {
        const stopped = await createDropletGroup(group, means);
        stop ??= stopped;
      } catch (error) {
        failed(error);
      }
      if (telling !== undefined) await telling;
      telling = tell(group.names);
    }
    abortScope.close();
    await telling;
  };
  try {
    recordUnsentGroups(options);
    // All at once, so that they share their waits and lookups, and before anything is sent, so that no list changes meanwhile.
    await Promise.all(state.uncertainGroups().map((doubt) => settle(doubt).catch(failed)));
    const { count, take } = createGroupQueue(options);
    await Promise.all(Array.from({ length: Math.min(options.concurrency, count) }, () => worker(take)));
  } finally {
    lateResponses.close();
  }
  try {
    recordUnsentGroups(options);
    ledger.flush();
  } catch (error) {
    failed(error);
  }
  if (fault !== undefined) throw fault.error;
  return stop;
}
