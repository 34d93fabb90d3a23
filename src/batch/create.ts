import { CliError } from '../errors.ts';
import { createGroup, type Group, type GroupDeps } from './group.ts';
import { createOverdue } from './overdue.ts';

export interface BatchOptions extends Omit<GroupDeps, 'stopped' | 'overdue'> {
  /** Milliseconds after which an answer is overdue. */
  readonly timeout: number;
  /** Names in one request; 10 is what the service takes. */
  readonly batchSize: number;
  /** Requests in flight. */
  readonly concurrency: number;
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
  const deps: GroupDeps = { ...options, overdue, stopped: () => stop !== undefined || fault !== undefined };
  const doubts = roster.doubts().map(({ group, names }): Group => ({ id: group, names, inDoubt: true }));
  const missing = roster.missing();
  const size = options.batchSize;
  const count = doubts.length + Math.ceil(missing.length / size);
  let next = 0;
  const take = (): Group | undefined => {
    const at = next++;
    if (at >= count) return undefined;
    const from = (at - doubts.length) * size;
    return doubts[at] ?? { id: roster.nextGroup(), names: missing.slice(from, from + size), inDoubt: false };
  };
  const worker = async (): Promise<void> => {
    // A group is told while the next one is sent, and one after the other.
    let telling: Promise<void> = Promise.resolve();
    while (!deps.stopped() && !ending.aborted) {
      const group = take();
      if (group === undefined) break;
      try {
        const stopped = await createGroup(group, deps);
        stop ??= stopped;
      } catch (error) {
        if (error instanceof CliError) stop ??= error;
        else if (!ending.aborted) fault ??= { error };
      }
      await telling;
      // One that fails stops the batch, but not the groups whose answers are awaited.
      telling = options.onSettled(group.names).catch((error: unknown) => {
        fault ??= { error };
      });
    }
    await telling;
  };
  try {
    await Promise.all(Array.from({ length: Math.min(options.concurrency, count) }, worker));
  } finally {
    overdue.close();
  }
  if (fault !== undefined) throw fault.error;
  return stop;
}
