import { CliError } from '../errors.ts';
import { createGroup, type GroupDeps, settleDoubt } from './group.ts';
import { createLeash } from './leash.ts';
import { createOverdue } from './overdue.ts';
import { createQueue, type Queue, type QueueOptions, withdraw } from './queue.ts';
import type { Doubt } from './roster.ts';

export interface BatchOptions extends QueueOptions, Omit<GroupDeps, 'stopped' | 'overdue' | 'leash'> {
  /** Milliseconds after which an answer is overdue. */
  readonly timeout: number;
  /** Called with the names of a group once no more is to be known of them in this run; what it gives is waited for. */
  readonly onSettled: (names: readonly string[]) => Promise<void> | undefined;
}

/**
 * Creates what the ledger lacks: groups in doubt are looked for first, then the missing names are sent. Resolves with
 * what stopped the batch, if something did; where each name stands is in the roster.
 */
export async function createBatch(options: BatchOptions): Promise<CliError | undefined> {
  const { ledger, ending } = options;
  const { roster } = ledger;
  let stop: CliError | undefined;
  let fault: { readonly error: unknown } | undefined;
  const overdue = createOverdue(options.clock, options.timeout, options.ended);
  const deps: Omit<GroupDeps, 'leash'> = {
    ...options,
    overdue,
    stopped: () => stop !== undefined || fault !== undefined,
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
  const settle = async (doubt: Doubt): Promise<void> => {
    if (await settleDoubt(doubt, began, deps)) await tell(doubt.names);
  };
  const worker = async (take: Queue['take']): Promise<void> => {
    // A group is told while the next one is sent, and one after the other.
    let telling: Promise<void> | undefined;
    const leash = createLeash(options.ended);
    const means = { ...deps, leash };
    while (!deps.stopped() && !ending.aborted) {
      const group = await take().catch(failed);
      if (group === undefined) break;
      try {
        const stopped = await createGroup(group, means);
        stop ??= stopped;
      } catch (error) {
        failed(error);
      }
      if (telling !== undefined) await telling;
      telling = tell(group.names);
    }
    leash.close();
    await telling;
  };
  try {
    withdraw(options);
    // All at once, so that they share their waits and lookups, and before anything is sent, so that no list changes meanwhile.
    await Promise.all(roster.doubts().map((doubt) => settle(doubt).catch(failed)));
    const { count, take } = createQueue(options);
    await Promise.all(Array.from({ length: Math.min(options.concurrency, count) }, () => worker(take)));
  } finally {
    overdue.close();
  }
  try {
    withdraw(options);
    ledger.flush();
  } catch (error) {
    failed(error);
  }
  if (fault !== undefined) throw fault.error;
  return stop;
}
