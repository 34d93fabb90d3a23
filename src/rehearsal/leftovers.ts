import { join } from 'node:path';
import type { CommandIo } from '../cli/command-io.ts';
import { CliError } from '../errors.ts';
import { type HeldFileLock, tryAcquireFileLock } from '../platform/file-lock.ts';
import { listFolder } from '../platform/files.ts';
import { readRehearsalRecord, rehearsalFolder } from './rehearsal-record.ts';

/**
 * Takes a lock for the pair of source and target of a rehearsal. Throws a CliError while another rehearsal with the
 * same source and target runs.
 */
export function lockRehearsalOfSourceAndTarget(path: string): HeldFileLock {
  const lockPath = rehearsalLockPath(path);
  const lock = tryAcquireFileLock(lockPath);
  if (lock !== undefined) return lock;
  throw new CliError('busy', 'another rehearsal of this source into this target is running', {
    detail: `that rehearsal holds the lock ${lockPath}`,
    hint: 'wait until that rehearsal ends, or end it with Ctrl-C in its terminal',
  });
}

/**
 * Warns about interrupted rehearsals with other sources or targets, and prints the commands that remove their objects.
 */
export async function warnAboutOtherRehearsalLeftovers(
  { host, output }: Pick<CommandIo, 'host' | 'output'>,
  currentPath: string,
): Promise<void> {
  const folder = rehearsalFolder(host.folders.state);
  for (const name of listFolder(folder).filter((file) => file.endsWith('.json'))) {
    const path = join(folder, name);
    if (path === currentPath) continue;
    const lock = tryAcquireFileLock(rehearsalLockPath(path));
    // A rehearsal that still holds its lock is running, and so is not reported.
    if (lock === undefined) continue;
    const record = readRehearsalRecord(path);
    lock.release();
    if (record === undefined) continue;
    await output.warn(
      record === 'damaged'
        ? `could not read the record of an earlier rehearsal: ${path}`
        : `a rehearsal of ${record.source} into ${record.target} was interrupted; remove what it left with: ${record.command}`,
    );
  }
}

function rehearsalLockPath(path: string): string {
  return path.replace(/\.json$/, '.lock');
}
