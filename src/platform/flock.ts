import { spawnSync } from 'node:child_process';

/** Locks an open file until it is closed; false when another process holds the lock. Throws when locking is not possible. */
export type FileLocker = (descriptor: number) => boolean;

/** The flock program locks an inherited descriptor. The lock belongs to the open file, so it stays when that program ends. */
export const flockLocker: FileLocker = (descriptor) => {
  const { status, stderr, error } = spawnSync('flock', ['-n', '3'], {
    stdio: ['ignore', 'ignore', 'pipe', descriptor],
    encoding: 'utf8',
  });
  if (error !== undefined)
    throw new Error(`neither a prebuilt lock library nor a flock program was found (${error.message})`);
  if (status === 0) return true;
  const message = stderr.trim();
  // flock of util-linux and busybox prints nothing when the lock is held, and a message for every other error.
  if (status === 1 && message === '') return false;
  throw new Error(message === '' ? `flock ended with status ${status}` : message);
};
