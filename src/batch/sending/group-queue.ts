import { type AnnouncedRequestGroupNames, formatBatchLedgerTimestamp } from '../ledger/batch-ledger-event.ts';
import type { DropletRequestGroup, DropletRequestGroupDeps } from './droplet-request-group.ts';

export interface DropletRequestGroupQueueOptions extends Pick<DropletRequestGroupDeps, 'ledger' | 'lane' | 'clock'> {
  /** The maximum number of names in one request; the service accepts 10. */
  readonly batchSize: number;
  /** The maximum number of requests that are sent at the same time. */
  readonly concurrency: number;
  /** The number of announced groups per request in flight (default: 32), so that no worker waits for the disk. */
  readonly ahead?: number;
}

export interface DropletRequestGroupQueue {
  readonly count: number;
  readonly take: () => Promise<DropletRequestGroup | undefined>;
}

/**
 * Divides the missing names into groups and returns the groups in order. When every worker has a group, the next groups are
 * announced in the ledger while the workers wait for responses, so that one sync covers many groups.
 */
export function createDropletRequestGroupQueue({
  ledger,
  lane,
  clock,
  batchSize,
  concurrency,
  ahead = 32,
}: DropletRequestGroupQueueOptions): DropletRequestGroupQueue {
  const { state, bootId } = ledger;
  const missing = state.missing();
  const announced: AnnouncedRequestGroupNames[] = [];
  let announcing: Promise<void> = Promise.resolve();
  let isAnnouncing = false;
  let next = 0;
  const nextNames = (): AnnouncedRequestGroupNames => {
    const names = missing.slice(next, next + batchSize);
    next += batchSize;
    return { group: state.nextGroup(), names };
  };
  const announce = async (boot: string): Promise<void> => {
    const groups: AnnouncedRequestGroupNames[] = [];
    while (announced.length + groups.length < ahead * concurrency && next < missing.length) groups.push(nextNames());
    const [at, server_date] = [formatBatchLedgerTimestamp(clock), lane.serverTime()];
    await ledger.commit({ event: 'announced', at, boot, server_date, groups });
    announced.push(...groups);
  };
  const refill = (): void => {
    const isDue = next >= concurrency * batchSize && announced.length <= (ahead * concurrency) / 2;
    if (!isDue || isAnnouncing || bootId === undefined || next >= missing.length) return;
    isAnnouncing = true;
    announcing = announce(bootId).finally(() => {
      isAnnouncing = false;
    });
    // A failure of the announcement is thrown by the next call of `take`.
    announcing.catch(() => {});
  };
  return {
    count: Math.ceil(missing.length / batchSize),
    async take() {
      if (announced.length === 0) await announcing;
      const first = announced.shift();
      const group = first ?? (next < missing.length ? nextNames() : undefined);
      refill();
      return group && { id: group.group, names: group.names, isAnnounced: first !== undefined };
    },
  };
}

/**
 * Writes an event to the ledger for each announced group that was never sent. Without it, the result of these names would
 * count as unknown after a reboot.
 */
export function recordUnsentRequestGroups({
  ledger,
  clock,
}: Pick<DropletRequestGroupQueueOptions, 'ledger' | 'clock'>): void {
  for (const { group, names } of ledger.state.announced().map(({ sending }) => sending))
    ledger.record({ event: 'failed', at: formatBatchLedgerTimestamp(clock), group, names, error: 'not sent' });
}
