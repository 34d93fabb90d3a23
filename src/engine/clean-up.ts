import type { EnginePorts } from './job.ts';
import { removeObjects } from './postgresql/removal.ts';
import { release } from './redis/release.ts';
import type { Leftover } from './state.ts';

/**
 * Removes what an earlier process has left behind, as its journal tells. What cannot be removed now stays in the journal
 * and is named.
 */
export async function cleanUp(ports: EnginePorts): Promise<readonly Leftover[]> {
  const all = ports.journal.pending().map(async (entry) => {
    const left = entry.engine === 'postgresql' ? await removeObjects(entry, ports) : await release(entry, ports);
    if (left.length === 0) ports.journal.cleared(entry.name);
    return left;
  });
  return (await Promise.all(all)).flat();
}
