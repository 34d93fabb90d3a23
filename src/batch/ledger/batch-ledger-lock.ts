import { existsSync, realpathSync } from 'node:fs';
import { CliError } from '../../errors.ts';
import { type HeldFileLock, tryAcquireFileLock } from '../../platform/file-lock.ts';
import type { Clock } from '../../platform/host.ts';

/**
 * Acquires the lock of a batch, and waits up to 1 s for it, because a listing of the batches holds the lock for a moment.
 * Throws `busy` when another process runs the batch. The lock is a separate file in the folder of the ledger, because on
 * some systems a locked file cannot be read.
 */
export async function acquireBatchLedgerLock(path: string, clock: Clock): Promise<HeldFileLock> {
  for (let left = waitMs; ; left -= pauseMs) {
    const name = buildBatchLedgerLockPath(path);
    const lock = tryAcquireFileLock(name);
    if (lock !== undefined) return lock;
    if (left <= 0) {
      throw new CliError('busy', 'another process runs this batch', {
        detail: `the other process has locked ${name}`,
        hint: 'wait until the other process ends, or end it, and run the command again',
      });
    }
    await clock.sleep(pauseMs);
  }
}

const waitMs = 1000;
const pauseMs = 50;

/** The lock path is the same for every symbolic link to the ledger. */
export function buildBatchLedgerLockPath(path: string): string {
  return `${existsSync(path) ? realpathSync(path) : path}.lock`;
}
