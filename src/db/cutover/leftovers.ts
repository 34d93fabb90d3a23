import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { CliError } from '../../base/errors.ts';
import { sanitizeReportLine } from '../../base/sanitize.ts';
import type { CommandIo } from '../../cli/command-io.ts';
import { type HeldFileLock, tryAcquireFileLock } from '../../platform/file-lock.ts';
import { listFolder, readTextIfReadable, writeFileAtomically } from '../../platform/files.ts';
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
 * Takes a lock for the target of a rehearsal, so that two rehearsals with different sources do not take the objects of
 * each other for their own. Throws a CliError that names the other rehearsal while it runs on this machine.
 * @param identity the address of the target, or another text that identifies the server
 * @param names source and target as `HOST:PORT`
 */
export function lockRehearsalTarget(
  stateFolder: string,
  identity: string,
  names: { readonly source: string; readonly target: string },
): HeldFileLock {
  const fingerprint = createHash('sha256').update(identity).digest('hex').slice(0, 32);
  const path = join(rehearsalFolder(stateFolder), `target-${fingerprint}`);
  const lock = tryAcquireFileLock(`${path}.lock`);
  if (lock === undefined) {
    const holder = readTextIfReadable(`${path}.txt`)?.trim() ?? 'another rehearsal';
    throw new CliError('busy', `another rehearsal into ${names.target} is running`, {
      detail: sanitizeReportLine(`${holder} holds the lock ${path}.lock`),
      hint: 'wait until that rehearsal ends, or end it with Ctrl-C in its terminal',
    });
  }
  writeFileAtomically(`${path}.txt`, `the rehearsal of ${names.source} into ${names.target}\n`);
  return lock;
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
