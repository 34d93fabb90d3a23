import { fstatSync, ftruncateSync, readSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type FileLocker, flockLocker } from './flock.ts';

/** Locks of different kinds do not exclude each other: fcntl(2) of the library, flock(2) of the program. */
export interface LockKind {
  readonly name: 'fcntl' | 'flock';
  readonly lock: FileLocker;
}

let known: readonly LockKind[] | undefined;

/** The kinds that this installation can take, the preferred one first. Loaded on first use (10 ms). */
export function availableLockKinds(): readonly LockKind[] {
  known ??= [...nativeKind(), { name: 'flock', lock: flockLocker }];
  return known;
}

/** The kind that the file records, else the preferred one. Throws when this installation cannot take the recorded one. */
export function chooseLockKind(descriptor: number, kinds: readonly LockKind[]): LockKind {
  const recorded = recordedKind(descriptor);
  const kind = recorded === undefined ? kinds[0] : kinds.find(({ name }) => name === recorded);
  if (kind !== undefined) return kind;
  const needed = recorded === 'fcntl' ? 'the npm package fs-native-extensions with a build for this system' : 'flock';
  throw new Error(`other cloudctl processes lock it with ${recorded ?? 'another kind'}, which needs ${needed}`);
}

/**
 * Records the kind of the first process in the lock file, which must be locked. False when another process has recorded
 * another kind before: this lock does not exclude it.
 */
export function writeLockKindToFile(descriptor: number, { name }: LockKind): boolean {
  // Windows has one kind only, and cannot read a locked file.
  if (process.platform === 'win32') return true;
  if (recordedKind(descriptor) === undefined) {
    try {
      // A power cut or a full disk can leave a record that is no kind.
      if (fstatSync(descriptor).size > 0) ftruncateSync(descriptor);
      // Appended in one write: of two processes, both read the same first line.
      writeSync(descriptor, `${name}\n`);
    } catch {
      // A full disk: the lock itself needs no space.
      return true;
    }
  }
  const recorded = recordedKind(descriptor);
  return recorded === undefined || recorded === name;
}

function recordedKind(descriptor: number): LockKind['name'] | undefined {
  if (process.platform === 'win32') return undefined;
  const bytes = Buffer.alloc(6);
  const text = bytes.toString('latin1', 0, readSync(descriptor, bytes, 0, bytes.length, 0));
  if (text === 'fcntl\n') return 'fcntl';
  return text === 'flock\n' ? 'flock' : undefined;
}

/** The library has no build for musl. */
function nativeKind(): readonly LockKind[] {
  const load = createRequire(import.meta.url);
  try {
    const native: { tryLock(descriptor: number): boolean } = load('fs-native-extensions');
    return [{ name: 'fcntl', lock: (descriptor) => native.tryLock(descriptor) }];
  } catch {
    return [];
  }
}
