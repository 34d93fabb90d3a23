import type { EngineDependencies } from './migration-job.ts';
import type { LeftoverObject } from './migration-state.ts';
import { releaseMigrationTarget, removeReplicationObjects } from './postgresql/remove-replication-objects.ts';
import { detachTarget } from './redis/detach-target.ts';

/**
 * Removes the objects that an earlier process recorded in its journal and did not remove.
 * @returns the objects that could not be removed; they stay in the journal for the next start
 */
export async function cleanUpFromJournal(deps: EngineDependencies): Promise<readonly LeftoverObject[]> {
  const all = deps.journal.pending().map(async (entry) => {
    const left =
      entry.engine === 'postgresql'
        ? [...(await removeReplicationObjects(entry, deps)), ...(await releaseMigrationTarget(entry, deps))]
        : await detachTarget(entry, deps);
    if (left.length === 0) deps.journal.recordRemoved(entry.name);
    return left;
  });
  return (await Promise.all(all)).flat();
}
