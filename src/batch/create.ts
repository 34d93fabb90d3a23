import { CliError } from '../errors.ts';
import { createGroup, type Group, type GroupDeps } from './group.ts';
import { stamp } from './investigate.ts';
import { createLeash } from './leash.ts';
import { dated } from './line.ts';
import { createOverdue } from './overdue.ts';

export interface BatchOptions extends Omit<GroupDeps, 'stopped' | 'overdue' | 'leash'> {
  /** Milliseconds after which an answer is overdue. */
  readonly timeout: number;
  /** Names in one request; 10 is what the service takes. */
  readonly batchSize: number;
  /** Requests in flight. */
  readonly concurrency: number;
  /** Groups announced for each request in flight (16): enough that no lane waits for the disk. */
  readonly ahead?: number;
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

/** What was announced and never sent: a later start of the machine would have to doubt it. */
async function withdraw({ ledger, clock }: BatchOptions): Promise<void> {
  for (const { group, names } of ledger.roster.announced().map(({ sending }) => sending))
    await ledger.record({ event: 'failed', ...stamp(clock), group, names, error: 'not sent' }, false);
}

interface Queue {
  readonly count: number;
  readonly take: () => Promise<Group | undefined>;
}

/**
 * The groups of the names that are missing, in order. Once every lane has one, those that are next are announced while
 * answers are awaited, so that the disk is waited for once for many of them.
 */
function createQueue({ ledger, line, clock, batchSize, concurrency, ahead = 16 }: BatchOptions): Queue {
  const { roster, boot } = ledger;
  const missing = roster.missing();
  const announced: Group[] = [];
  let announcing: Promise<void> = Promise.resolve();
  let isAnnouncing = false;
  let next = 0;
  const cut = (isAnnounced: boolean): Group => {
    const names = missing.slice(next, next + batchSize);
    next += batchSize;
    return { id: roster.nextGroup(), names, inDoubt: false, isAnnounced };
  };
  const announce = async (boot: string): Promise<void> => {
    const groups: Group[] = [];
    while (announced.length + groups.length < ahead * concurrency && next < missing.length) groups.push(cut(true));
    const told = groups.map(({ id, names }) => ({ group: id, names }));
    await ledger.record({ event: 'announced', ...stamp(clock), boot, ...dated(line), groups: told }, true);
    announced.push(...groups);
  };
  const refill = (): void => {
    const isDue = next >= concurrency * batchSize && announced.length <= (ahead * concurrency) / 2;
    if (!isDue || isAnnouncing || boot === undefined || next >= missing.length) return;
    isAnnouncing = true;
    announcing = announce(boot).finally(() => {
      isAnnouncing = false;
    });
    // Whoever takes the next group hears of it.
    announcing.catch(() => {});
  };
  return {
    count: Math.ceil(missing.length / batchSize),
    async take() {
      if (announced.length === 0) await announcing;
      const group = announced.shift() ?? (next < missing.length ? cut(false) : undefined);
      refill();
      return group;
    },
  };
}
