import { type HeldFileLock, tryAcquireFileLock } from '../../platform/file-lock.ts';

/**
 * Acquires the kernel lock of a lock file; undefined when another process still holds it after `limit` milliseconds. Blocks
 * the thread while it waits, so that a record can be read and replaced within one synchronous function. Throws a CliError
 * when the file cannot be locked.
 */
export function waitForFileLock(path: string, limit = 1000): HeldFileLock | undefined {
  for (let left = limit; ; left -= pauseMs) {
    const lock = tryAcquireFileLock(path);
    if (lock !== undefined || left <= 0) return lock;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs);
  }
}

const pauseMs = 10;
