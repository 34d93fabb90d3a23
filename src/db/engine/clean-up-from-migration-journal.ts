import type { MigrationLeftoverObject } from './engine-migration-state.ts';
import type { MigrationEngineDependencies } from './migration-engine-input.ts';
import { removeReplicationObjects, restoreTargetDatabaseOwner } from './postgresql/remove-replication-objects.ts';
import { detachRedisTarget } from './redis/detach-target.ts';

/**
 * Removes the objects that an earlier process recorded in its journal and did not remove.
 * @returns the objects that could not be removed; they stay in the journal for the next start
 */
export async function cleanUpFromMigrationJournal(
  deps: MigrationEngineDependencies,
): Promise<readonly MigrationLeftoverObject[]> {
  const all = deps.journal.pending().map(async (entry) => {
    const left =
      entry.engine === 'postgresql'
        ? [...(await removeReplicationObjects(entry, deps)), ...(await restoreTargetDatabaseOwner(entry, deps))]
        : await detachRedisTarget(entry, deps);
    if (left.length === 0) deps.journal.recordRemoved(entry.name);
    return left;
  });
  return (await Promise.all(all)).flat();
}
