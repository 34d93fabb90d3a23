import { spawnSync } from 'node:child_process';
import { closeSync, fstatSync, openSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { StateError } from './state-error.ts';

/** Locks an open file for as long as it is open; false when it is locked already. */
export type TryLock = (descriptor: number) => boolean;

/**
 * Takes the lock of a permanent empty file; returns what gives it back. The kernel frees it when the process ends, however it
 * ends, so there is no stale lock to be judged.
 */
export function lockFolder(path: string, tryLock: TryLock = systemLock()): () => void {
  const descriptor = openSync(path, 'a', 0o600);
  let isOurs = false;
  try {
    isOurs = tryLock(descriptor) && isStill(path, descriptor);
  } catch (error) {
    closeSync(descriptor);
    throw new StateError('unusable', `could not lock ${path}: ${error instanceof Error ? error.message : error}`, {
      hint: 'name a folder on a local disk with `--state`',
    });
  }
  if (isOurs) return once(() => closeSync(descriptor));
  closeSync(descriptor);
  throw new StateError('busy', `another sandbox runs in ${dirname(path)}`, {
    detail: `it holds the lock ${path}`,
    hint: 'end it, or name another folder with `--state`',
  });
}

/** A number that was closed may be another file's by the second time. */
function once(act: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) act();
    isDone = true;
  };
}

/** The flock program takes the lock on a descriptor it inherits; the lock belongs to the open file and outlives the program. */
export const flock: TryLock = (descriptor) => {
  const { status, stderr, error } = spawnSync('flock', ['-n', '3'], {
    stdio: ['ignore', 'ignore', 'pipe', descriptor],
    encoding: 'utf8',
  });
  if (error !== undefined) throw new Error('there is neither a lock library for this system nor a flock program');
  const words = stderr.trim();
  if (status === 0) return true;
  if (status === 1 && words === '') return false;
  throw new Error(words === '' ? `flock ended with status ${status}` : words);
};

/** The library has no build for musl, where the program takes its place. */
function systemLock(): TryLock {
  try {
    const native: { tryLock(descriptor: number): boolean } = createRequire(import.meta.url)('fs-native-extensions');
    return (descriptor) => native.tryLock(descriptor);
  } catch {
    return flock;
  }
}

/** Somebody may have removed the file in between: what was locked then has no name and excludes nobody. */
function isStill(path: string, descriptor: number): boolean {
  const ours = fstatSync(descriptor, { bigint: true });
  const named = statSync(path, { bigint: true, throwIfNoEntry: false });
  return named !== undefined && named.ino === ours.ino && named.dev === ours.dev;
}
