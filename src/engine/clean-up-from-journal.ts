import type { EngineDependencies } from './migration-job.ts';
import type { LeftoverObject } from './migration-state.ts';
import { removeReplicationObjects } from './postgresql/remove-replication-objects.ts';
import { detachTarget } from './redis/detach-target.ts';

/**
 * Removes what an earlier process has left behind, as its journal tells. What cannot be removed now stays in the journal
 * and is named.
 */
export async function cleanUpFromJournal(ports: EngineDependencies): Promise<readonly LeftoverObject[]> {
  const all = ports.journal.pending().map(async (entry) => {
    const left =
      entry.engine === 'postgresql' ? await removeReplicationObjects(entry, ports) : await detachTarget(entry, ports);
    if (left.length === 0) ports.journal.recordRemoved(entry.name);
    return left;
  });
  return (await Promise.all(all)).flat();
}
