import { spawnSync } from 'node:child_process';

/** Locks an open file for as long as it is open; false when another process has it. Throws where that cannot be done. */
export type FileLocker = (descriptor: number) => boolean;

/** The lock belongs to the open file, so the one this program takes on an inherited descriptor outlives it. */
export const flockLocker: FileLocker = (descriptor) => {
  const { status, stderr, error } = spawnSync('flock', ['-n', '3'], {
    stdio: ['ignore', 'ignore', 'pipe', descriptor],
    encoding: 'utf8',
  });
  if (error !== undefined)
    throw new Error(`there is neither a prebuilt lock library nor a flock program (${error.message})`);
  if (status === 0) return true;
  const words = stderr.trim();
  // Both flock programs, of util-linux and busybox, are silent when the lock is taken and say what else went wrong.
  if (status === 1 && words === '') return false;
  throw new Error(words === '' ? `flock ended with status ${status}` : words);
};
