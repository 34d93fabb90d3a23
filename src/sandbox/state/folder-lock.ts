import { spawnSync } from 'node:child_process';
import { closeSync, fstatSync, openSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { SandboxStateFolderError } from './state-error.ts';

/** Locks an open file until it is closed; returns false when another process has the lock. */
export type NonBlockingFileLocker = (descriptor: number) => boolean;

/**
 * Locks the empty file `path`, which is never removed, and returns the function that releases the lock. The kernel releases the
 * lock of a file when the process ends for any reason, so no lock remains after a crash. Throws a StateError.
 */
export function lockSandboxStateFolder(path: string, tryLock: NonBlockingFileLocker = systemLock()): () => void {
  let descriptor: number | undefined = openSync(path, 'a', 0o600);
  const release = (): void => {
    if (descriptor !== undefined) closeSync(descriptor);
    descriptor = undefined;
  };
  try {
    if (tryLock(descriptor) && isSameFile(path, descriptor)) return release;
  } catch (error) {
    release();
    throw new SandboxStateFolderError(
      'unusable',
      `could not lock ${path}: ${error instanceof Error ? error.message : error}`,
      {
        hint: 'name a folder on a local disk with `--state`',
      },
    );
  }
  release();
  throw new SandboxStateFolderError('busy', `another sandbox is using ${dirname(path)}`, {
    detail: `the other sandbox has locked ${path}`,
    hint: 'stop the other sandbox, or name another folder with `--state`',
  });
}

/**
 * The program flock locks the file descriptor that it inherits; the lock belongs to the open file and remains after flock has
 * exited.
 */
export const lockFileWithFlock: NonBlockingFileLocker = (descriptor) => {
  const { status, stderr, error } = spawnSync('flock', ['-n', '3'], {
    stdio: ['ignore', 'ignore', 'pipe', descriptor],
    encoding: 'utf8',
  });
  if (error !== undefined) throw new Error('this system has neither a native lock library nor the flock program');
  const message = stderr.trim();
  if (status === 0) return true;
  if (status === 1 && message === '') return false;
  throw new Error(message === '' ? `flock exited with status ${status}` : message);
};

/**
 * The native lock library has no build for the C library musl, and it crashes Bun and Deno. There the program flock is used.
 */
function systemLock(): NonBlockingFileLocker {
  if ('Bun' in globalThis || 'Deno' in globalThis) return lockFileWithFlock;
  try {
    const native: { tryLock(descriptor: number): boolean } = createRequire(import.meta.url)('fs-native-extensions');
    return (descriptor) => native.tryLock(descriptor);
  } catch {
    return lockFileWithFlock;
  }
}

/** Returns false when the file was removed after it was opened, because a lock on a removed file excludes no other process. */
function isSameFile(path: string, descriptor: number): boolean {
  const locked = fstatSync(descriptor, { bigint: true });
  const named = statSync(path, { bigint: true, throwIfNoEntry: false });
  return named !== undefined && named.ino === locked.ino && named.dev === locked.dev;
}
