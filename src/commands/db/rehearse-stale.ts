import { join } from 'node:path';
import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';
import { namesIn } from '../../platform/files.ts';
import { type HeldLock, tryAcquire } from '../../platform/lock.ts';
import { readRehearsal, rehearsalFolder } from '../../rehearsal/record.ts';

/** One rehearsal at a time of a source into a target. Throws a CliError while another runs. */
export function holdRehearsal(path: string): HeldLock {
  const held = tryAcquire(lockOf(path));
  if (held !== undefined) return held;
  throw new CliError('busy', 'a rehearsal of this source into this target is running', {
    detail: `it holds the lock ${lockOf(path)}`,
    hint: 'wait for its end, or end it with Ctrl-C there',
  });
}

/** Of other sources and targets that were cut off, and whom nobody holds: the commands that remove what they left. */
export async function tellOfOthers({ host, output }: Context, path: string): Promise<void> {
  const folder = rehearsalFolder(host.folders.state);
  for (const name of namesIn(folder).filter((one) => one.endsWith('.json'))) {
    const other = join(folder, name);
    if (other === path) continue;
    const held = tryAcquire(lockOf(other));
    // It runs in another terminal.
    if (held === undefined) continue;
    const record = readRehearsal(other);
    held.release();
    if (record === undefined) continue;
    await output.warn(
      record === 'damaged'
        ? `the record of an earlier rehearsal cannot be read: ${other}`
        : `an earlier rehearsal of ${record.source} into ${record.target} was cut off; this removes what it left: ${record.command}`,
    );
  }
}

function lockOf(path: string): string {
  return path.replace(/\.json$/, '.lock');
}
