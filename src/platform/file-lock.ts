import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { CliError } from '../base/errors.ts';
import { storageError } from '../base/storage-error.ts';
import { ensureFolder, fileErrorCode, isSameFile } from './files.ts';
import type { Clock } from './host.ts';
import {
  chooseRecordedOrPreferredLockMechanism,
  type FileLockMechanism,
  listAvailableFileLockMechanisms,
  writeLockKindToFile,
} from './lock-kind.ts';
import { formatAccessCommand } from './own-folder.ts';

export interface HeldFileLock {
  /**
   * A child process that inherits the file descriptor keeps the lock until the child ends, because the lock belongs to the open
   * file.
   */
  readonly descriptor: number;
  release(): void;
}

export interface FileLockOptions {
  /** Milliseconds to wait for the lock while another process has it; after this time the error is `busy`. */
  readonly waitMs: number;
  readonly clock: Clock;
  readonly random: (bytes: number) => Uint8Array;
  readonly signal?: AbortSignal | undefined;
  /** Called once when another process has the lock. */
  readonly onWaiting?: (() => void) | undefined;
}

/**
 * Acquires the kernel lock of a permanent lock file, whose only content is the kind of the lock. The kernel releases the lock
 * when the process ends. Tries the lock every 25 to 75 ms instead of using the library's waiting function, because an abandoned
 * wait could acquire the lock later.
 */
export async function acquireFileLock(path: string, options: FileLockOptions): Promise<HeldFileLock> {
  // The waiting time is the sum of the pauses, because the system time may be changed during the wait.
  let left = options.waitMs;
  for (let isWaiting = false; ; isWaiting = true) {
    options.signal?.throwIfAborted();
    const held = tryAcquireFileLock(path);
    if (held !== undefined) return held;
    if (!isWaiting) options.onWaiting?.();
    if (left <= 0) throw busyError(path, options.waitMs);
    const pauseMs = Math.min(left, pause(options.random));
    await options.clock.sleep(pauseMs, options.signal);
    left -= pauseMs;
  }
}

/** Tries to acquire the lock without waiting; returns undefined when another process has it. */
export function tryAcquireFileLock(path: string, kinds = listAvailableFileLockMechanisms()): HeldFileLock | undefined {
  for (;;) {
    const descriptor = open(path);
    try {
      const kind = chooseRecordedOrPreferredLockMechanism(descriptor, kinds);
      if (!kind.lock(descriptor)) {
        closeSync(descriptor);
        return undefined;
      }
      // Closing the file descriptor releases the lock: no other code opens the lock file, and no child process inherits it by
      // accident.
      if (writeLockKindToFile(descriptor, kind) && isSameFile(path, descriptor))
        return { descriptor, release: () => release(descriptor, kind) };
    } catch (error) {
      closeSync(descriptor);
      throw lockError(path, error);
    }
    // If the lock file was removed or is locked with another kind of lock, the acquired lock excludes no other process.
    closeSync(descriptor);
  }
}

function release(descriptor: number, kind: FileLockMechanism): void {
  try {
    kind.unlock?.(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function open(path: string): number {
  try {
    ensureFolder(dirname(path));
    const descriptor = openSync(path, openFlags, 0o600);
    // A pipe or a device that another user created in place of the lock file would exclude no other process.
    if (fstatSync(descriptor).isFile()) return descriptor;
    closeSync(descriptor);
    throw new Error(`${path} is not a regular file`);
  } catch (error) {
    throw lockError(path, fileErrorCode(error) === 'ELOOP' ? new Error(`${path} is a symbolic link`) : error);
  }
}

// The lock file is never opened through a symbolic link, because the kind of the lock would be appended to the file to which
// the link points.
const openFlags =
  constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

function pause(random: FileLockOptions['random']): number {
  const [byte = 0] = random(1);
  return 25 + (50 * byte) / 255;
}

function busyError(path: string, waitMs: number): CliError {
  return new CliError(
    'busy',
    `could not lock the profile within ${Math.round(waitMs / 1000)} s: another cloudctl process holds the lock`,
    {
      detail: `lock file: ${path}`,
      hint: 'wait for the other process or end it, then run the command again',
    },
  );
}

function lockError(path: string, error: unknown): CliError {
  const reason = error instanceof Error ? error.message : String(error);
  return storageError(`could not lock a file in ${dirname(path)}: ${reason}`, error, {
    elsewhere:
      formatAccessCommand(error) ??
      'set CLOUDCTL_CONFIG_DIR and CLOUDCTL_STATE_DIR to folders that you own on a local disk',
  });
}
