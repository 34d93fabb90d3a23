import type { DropletGroup, DropletGroupDeps } from './droplet-group.ts';
import { type AnnouncedGroup, ledgerTimestamp } from './ledger-event.ts';

export interface GroupQueueOptions extends Pick<DropletGroupDeps, 'ledger' | 'lane' | 'clock'> {
  /** Names in one request; 10 is what the service takes. */
  readonly batchSize: number;
  /** Requests in flight. */
  readonly concurrency: number;
  /** Groups announced for each request in flight (32): enough that no lane waits for the disk. */
  readonly ahead?: number;
}

export interface GroupQueue {
  readonly count: number;
  readonly take: () => Promise<DropletGroup | undefined>;
}

/**
 * The groups of the names that are missing, in order. Once every lane has one, those that are next are announced while
 * answers are awaited, so that the disk is waited for once for many of them.
 */
export function createGroupQueue({
  ledger,
  lane: line,
  clock,
  batchSize,
  concurrency,
  ahead = 32,
}: GroupQueueOptions): GroupQueue {
  const { state: roster, bootId: boot } = ledger;
  const missing = roster.missing();
  const announced: AnnouncedGroup[] = [];
  let announcing: Promise<void> = Promise.resolve();
  let isAnnouncing = false;
  let next = 0;
  const cut = (): AnnouncedGroup => {
    const names = missing.slice(next, next + batchSize);
    next += batchSize;
    return { group: roster.nextGroup(), names };
  };
  const announce = async (boot: string): Promise<void> => {
    const groups: AnnouncedGroup[] = [];
    while (announced.length + groups.length < ahead * concurrency && next < missing.length) groups.push(cut());
    const [at, server_date] = [ledgerTimestamp(clock), line.serverTime()];
    await ledger.commit({ event: 'announced', at, boot, server_date, groups });
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
      const first = announced.shift();
      const told = first ?? (next < missing.length ? cut() : undefined);
      refill();
      return told && { id: told.group, names: told.names, isAnnounced: first !== undefined };
    },
  };
}

/** What was announced and never sent: a later start of the machine would have to doubt it. */
export function recordUnsentGroups({ ledger, clock }: Pick<GroupQueueOptions, 'ledger' | 'clock'>): void {
  for (const { group, names } of ledger.state.announced().map(({ sending }) => sending))
    ledger.record({ event: 'failed', at: ledgerTimestamp(clock), group, names, error: 'not sent' });
}
