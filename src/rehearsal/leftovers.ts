import { join } from 'node:path';
import type { Context } from '../context.ts';
import { CliError } from '../errors.ts';
import { type HeldLock, tryAcquireLock } from '../platform/file-lock.ts';
import { listFolder } from '../platform/files.ts';
import { readRehearsalRecord, rehearsalFolder } from './rehearsal-record.ts';

/** One rehearsal at a time of a source into a target. Throws a CliError while another runs. */
export function lockRehearsal(path: string): HeldLock {
  const held = tryAcquireLock(rehearsalLockPath(path));
  if (held !== undefined) return held;
  throw new CliError('busy', 'a rehearsal of this source into this target is running', {
    detail: `it holds the lock ${rehearsalLockPath(path)}`,
    hint: 'wait for its end, or end it with Ctrl-C there',
  });
}

/** Of other sources and targets that were cut off, and whom nobody holds: the commands that remove what they left. */
export async function warnAboutLeftovers({ host, output }: Context, path: string): Promise<void> {
  const folder = rehearsalFolder(host.folders.state);
  for (const name of listFolder(folder).filter((one) => one.endsWith('.json'))) {
    const other = join(folder, name);
    if (other === path) continue;
    const held = tryAcquireLock(rehearsalLockPath(other));
    // It runs in another terminal.
    if (held === undefined) continue;
    const record = readRehearsalRecord(other);
    held.release();
    if (record === undefined) continue;
    await output.warn(
      record === 'damaged'
        ? `the record of an earlier rehearsal cannot be read: ${other}`
        : `an earlier rehearsal of ${record.source} into ${record.target} was cut off; this removes what it left: ${record.command}`,
    );
  }
}

function rehearsalLockPath(path: string): string {
  return path.replace(/\.json$/, '.lock');
}
