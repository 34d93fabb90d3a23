import { type CheckedSource, checkInventorySource, type SourceChecker } from './check-source.ts';
import type { InventoryEntry } from './inventory-entry.ts';
import { runWithServerSlots, type ServerSlotLimits } from './server-slots.ts';

/**
 * Checks all sources within the limits, and yields each outcome as soon as it is known. A slow reader delays the next sources, so
 * that outcomes do not pile up.
 */
export async function* checkInventory(
  entries: readonly InventoryEntry[],
  checker: SourceChecker,
  limits: ServerSlotLimits,
): AsyncGenerator<CheckedSource> {
  const ready: CheckedSource[] = [];
  let isOver = false;
  let wake = (): void => {};
  const waiting: (() => void)[] = [];
  const work = runWithServerSlots(entries, entryAddress, limits, async (entry, slot) => {
    while (ready.length >= maxWaitingOutcomes && !isOver) await new Promise<void>((resolve) => waiting.push(resolve));
    if (checker.signal.aborted || isOver) return;
    ready.push(await checkInventorySource(entry, slot, checker));
    wake();
  }).finally(() => {
    isOver = true;
    wake();
  });
  // The failure is thrown below, after the outcomes that are known.
  work.catch(() => {});
  try {
    for (;;) {
      const next = ready.shift();
      if (next !== undefined) {
        waiting.shift()?.();
        yield next;
      } else if (isOver) break;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
    await work;
  } finally {
    isOver = true;
    for (const go of waiting) go();
  }
}

const maxWaitingOutcomes = 64;

/** Host and port, by which sources of a server are recognized before the first of them is connected. */
export function entryAddress({ withPassword }: Pick<InventoryEntry, 'withPassword'>): string {
  const { engine, source } = withPassword(undefined);
  return `${engine}:${source.host.toLowerCase()}:${source.port}`;
}
