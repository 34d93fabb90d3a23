import { checkInventorySource, type InventorySourceCheckDeps } from './check-inventory-source.ts';
import type { InventorySourceOutcome } from './inventory-source-outcome.ts';
import {
  runForEachSourceWithinLimits,
  type SourceCheckConcurrencyLimits,
} from './run-for-each-source-within-limits.ts';
import type { SourceInventoryEntry } from './source-inventory-entry.ts';

/** Checks all sources within the limits, and calls `onOutcome` as soon as one is checked. */
export function checkSourceInventory(
  entries: readonly SourceInventoryEntry[],
  checker: InventorySourceCheckDeps,
  limits: SourceCheckConcurrencyLimits,
  onOutcome: (outcome: InventorySourceOutcome) => Promise<void>,
): Promise<void> {
  return runForEachSourceWithinLimits(entries, buildInventoryServerAddress, limits, async (entry, slot) => {
    if (checker.signal.aborted) return;
    await onOutcome(await checkInventorySource(entry, slot, checker));
  });
}

/** Host and port of the server, by which sources of the same server are recognized before any of them is connected. */
function buildInventoryServerAddress({ withPassword }: SourceInventoryEntry): string {
  const { engine, source } = withPassword(undefined);
  return `${engine}:${source.host.toLowerCase()}:${source.port}`;
}
