import { checkInventorySource, type SourceChecker } from './check-inventory-source.ts';
import type { InventoryEntry } from './inventory-entry.ts';
import { runWithServerSlots, type ServerSlotLimits } from './run-with-server-slots.ts';
import type { SourceOutcome } from './source-outcome.ts';

/** Checks all sources within the limits, and calls `onOutcome` as soon as one is checked. */
export function checkInventory(
  entries: readonly InventoryEntry[],
  checker: SourceChecker,
  limits: ServerSlotLimits,
  onOutcome: (outcome: SourceOutcome) => Promise<void>,
): Promise<void> {
  return runWithServerSlots(entries, entryAddress, limits, async (entry, slot) => {
    if (checker.signal.aborted) return;
    await onOutcome((await checkInventorySource(entry, slot, checker)).outcome);
  });
}

/** Host and port, by which sources of a server are recognized before the first of them is connected. */
export function entryAddress({ withPassword }: Pick<InventoryEntry, 'withPassword'>): string {
  const { engine, source } = withPassword(undefined);
  return `${engine}:${source.host.toLowerCase()}:${source.port}`;
}
