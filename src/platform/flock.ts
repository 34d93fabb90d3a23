import { findProgram, runChildSync } from './child.ts';

/**
 * Locks an open file until it is closed; returns false when another process has the lock. Throws when the file cannot be locked
 * on this system.
 */
export type TryFileLock = (descriptor: number) => boolean;

/**
 * The program flock locks the file descriptor that it inherits. The lock belongs to the open file, so it remains after the
 * program flock has ended.
 */
export const tryLockOpenFileWithFlockProgram: TryFileLock = (descriptor) => {
  const { env } = process;
  const { status, stderr, error } = runChildSync(findProgram('flock', env) ?? 'flock', ['-n', '3'], {
    stdio: ['ignore', 'ignore', 'pipe', descriptor],
    env,
  });
  if (error !== undefined)
    throw new Error(`neither a prebuilt lock library nor a flock program was found (${error.message})`);
  if (status === 0) return true;
  const message = stderr.trim();
  // If another process has the lock, flock of util-linux and busybox prints nothing; for every other error it prints a message.
  if (status === 1 && message === '') return false;
  throw new Error(message === '' ? `flock ended with status ${status}` : message);
};
