import { CliError } from '../errors.ts';
import { createGroup, type Group, type GroupDeps } from './group.ts';
import { createLeash } from './leash.ts';
import { createOverdue } from './overdue.ts';
import { createQueue, type QueueOptions, withdraw } from './queue.ts';

export interface BatchOptions extends QueueOptions, Omit<GroupDeps, 'stopped' | 'overdue' | 'leash'> {
  /** Milliseconds after which an answer is overdue. */
  readonly timeout: number;
  /** Called with the names of a group once no more is to be known of them in this run. */
  readonly onSettled: (names: readonly string[]) => Promise<void>;
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
  await withdraw(options);
  const doubts = roster
    .doubts()
    .map(({ group, names }): Group => ({ id: group, names, inDoubt: true, isAnnounced: false }));
  const fresh = createQueue(options);
  const count = doubts.length + fresh.count;
  const failed = (error: unknown): undefined => {
    if (error instanceof CliError) stop ??= error;
    else if (!ending.aborted) fault ??= { error };
  };
  const take = async (): Promise<Group | undefined> => doubts.shift() ?? fresh.take().catch(failed);
  const worker = async (): Promise<void> => {
    // A group is told while the next one is sent, and one after the other.
    let telling: Promise<void> = Promise.resolve();
    const leash = createLeash(options.ended);
    const means = { ...deps, leash };
    while (!deps.stopped() && !ending.aborted) {
      const group = await take();
      if (group === undefined) break;
      try {
        const stopped = await createGroup(group, means);
        stop ??= stopped;
      } catch (error) {
        failed(error);
      }
      await telling;
      // One that fails stops the batch, but not the groups whose answers are awaited.
      telling = options.onSettled(group.names).catch((error: unknown) => {
        fault ??= { error };
      });
    }
    leash.close();
    await telling;
  };
  try {
    await Promise.all(Array.from({ length: Math.min(options.concurrency, count) }, worker));
  } finally {
    overdue.close();
  }
  await withdraw(options).then(ledger.flush).catch(failed);
  if (fault !== undefined) throw fault.error;
  return stop;
}
