import { ftruncateSync, readSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type TryFileLock, tryLockOpenFileWithFlockProgram } from './flock.ts';

/**
 * The two kinds of locks do not exclude each other: fcntl(2) from the npm library, flock(2) from the flock program. On macOS the
 * library uses flock(2) and on Windows LockFileEx, under the same name.
 */
export interface FileLockMechanism {
  readonly name: 'fcntl' | 'flock';
  readonly lock: TryFileLock;
  /**
   * Releases the lock at once. Only on Windows, which may release the lock of a closed file later (LockFileEx); elsewhere a child
   * process that has inherited the file descriptor must keep the lock.
   */
  readonly unlock?: (descriptor: number) => void;
}

let known: readonly FileLockMechanism[] | undefined;

/**
 * The kinds of locks that this installation can acquire, the preferred one first. The lock library is loaded on first use,
 * because loading it takes 10 ms.
 */
export function listAvailableFileLockMechanisms(): readonly FileLockMechanism[] {
  known ??= [...nativeKind(), { name: 'flock', lock: tryLockOpenFileWithFlockProgram }];
  return known;
}

/**
 * The kind of lock that the lock file records, else the preferred kind. Throws when this installation cannot acquire locks of
 * the recorded kind.
 */
export function chooseRecordedOrPreferredLockMechanism(
  descriptor: number,
  kinds: readonly FileLockMechanism[],
): FileLockMechanism {
  const recorded = recordedKind(descriptor);
  const kind = recorded === undefined ? kinds[0] : kinds.find(({ name }) => name === recorded);
  if (kind !== undefined) return kind;
  const needed = recorded === 'fcntl' ? 'the npm package fs-native-extensions with a build for this system' : 'flock';
  throw new Error(`other cloudctl processes lock it with ${recorded ?? 'another kind'}, which needs ${needed}`);
}

/**
 * The first process records its kind of lock in the lock file, which must be locked. Returns false when another process has
 * recorded another kind before, so that the lock of this process does not exclude that process.
 */
export function writeLockKindToFile(descriptor: number, { name }: FileLockMechanism): boolean {
  // Windows has only one kind of lock, and cannot read a locked file.
  if (process.platform === 'win32') return true;
  const text = readStart(descriptor);
  if (decodeKind(text) === undefined) {
    try {
      // After a power failure or on a full disk, the lock file can contain text that is not a kind of lock. A file that was empty
      // is not truncated: another process with another kind of lock may have recorded it since.
      if (text !== '') ftruncateSync(descriptor);
      // The name of the lock kind is appended in one write: two processes that append at the same time then read the same
      // first line.
      writeSync(descriptor, `${name}\n`);
    } catch {
      // On a full disk the kind of lock cannot be recorded, but the lock itself needs no disk space.
      return true;
    }
  }
  const recorded = recordedKind(descriptor);
  return recorded === undefined || recorded === name;
}

function recordedKind(descriptor: number): FileLockMechanism['name'] | undefined {
  if (process.platform === 'win32') return undefined;
  return decodeKind(readStart(descriptor));
}

function readStart(descriptor: number): string {
  const bytes = Buffer.alloc(6);
  return bytes.toString('latin1', 0, readSync(descriptor, bytes, 0, bytes.length, 0));
}

function decodeKind(text: string): FileLockMechanism['name'] | undefined {
  if (text === 'fcntl\n') return 'fcntl';
  return text === 'flock\n' ? 'flock' : undefined;
}

interface NativeLockLibrary {
  tryLock(descriptor: number): boolean;
  unlock(descriptor: number): void;
}

/**
 * The npm lock library has no build for the C library musl, and ends the process in Bun and Deno, which lack functions
 * of libuv.
 */
function nativeKind(): readonly FileLockMechanism[] {
  if ('Bun' in globalThis || 'Deno' in globalThis) return [];
  const load = createRequire(import.meta.url);
  try {
    const native: NativeLockLibrary = load('fs-native-extensions');
    const unlock = process.platform === 'win32' ? { unlock: (descriptor: number) => native.unlock(descriptor) } : {};
    return [{ name: 'fcntl', lock: (descriptor) => native.tryLock(descriptor), ...unlock }];
  } catch {
    return [];
  }
}
