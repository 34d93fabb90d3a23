import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  statSync,
  writeSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import type { World } from '../world.ts';
import { readJournal, SandboxStateFolderError, temporaryName } from './journal.ts';
import { decodeState, type SavedState, type ServerIdentity } from './saved-state.ts';
import { StateWriter } from './state-writer.ts';

/** A state folder that this process has locked. */
export interface StateFolder {
  /** The saved state; undefined for a new folder. */
  readonly saved: SavedState | undefined;
  /** A warning about an incomplete last line. */
  readonly notice: string | undefined;
  readonly startWriter: (world: World, identity: ServerIdentity) => Promise<StateWriter>;
  readonly release: () => void;
}

const LOCK = 'lock';
const JOURNAL = 'journal';

/**
 * Creates the folder if it does not exist, locks it and reads its content. Throws a StateError without changing the content of
 * the folder.
 */
export function openStateFolder(path: string): StateFolder {
  const folder = resolve(path);
  const journal = join(folder, JOURNAL);
  let release: (() => void) | undefined;
  try {
    makeFolders(folder);
    requireOwnFiles(folder);
    release = lockStateFolder(join(folder, LOCK));
    if (process.platform !== 'win32' && (statSync(folder).mode & 0o077) !== 0) chmodSync(folder, 0o700);
    const content = readJournal(journal);
    return {
      saved: content === undefined ? undefined : decodeState(journal, content.lines),
      notice: noticeOf(journal, content?.tornBytes ?? 0),
      startWriter: async (world, identity) => {
        try {
          return await StateWriter.start(journal, world, identity);
        } catch (error) {
          throw toStateError(error, folder);
        }
      },
      release,
    };
  } catch (error) {
    release?.();
    throw toStateError(error, folder);
  }
}

/**
 * The folders are created one level at a time: with the option `recursive`, Node never returns on a file system that returns
 * ENOENT for every new name, such as /proc.
 */
function makeFolders(path: string, hasParentToMake = true): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'EEXIST' && statSync(path).isDirectory()) return;
    if (code !== 'ENOENT' || !hasParentToMake || dirname(path) === path) throw error;
    makeFolders(dirname(path));
    makeFolders(path, false);
  }
}

/** The migration engine itself writes the file `engine`, which lists the objects that migrations created on their sources. */
function requireOwnFiles(folder: string): void {
  const names = readdirSync(folder);
  const foreign = names.find((name) => ![LOCK, JOURNAL, temporaryName(JOURNAL), 'engine'].includes(name));
  if (foreign === undefined || names.includes(JOURNAL)) return;
  throw new SandboxStateFolderError('unusable', `${folder} is not a sandbox state folder`, {
    detail: `it contains ${foreign}`,
    hint: 'name a new or empty folder with `--state`',
  });
}

function noticeOf(journal: string, tornBytes: number): string | undefined {
  if (tornBytes === 0) return undefined;
  return `removed an incomplete line of ${tornBytes} bytes at the end of ${journal}: its requests had not been answered`;
}

function toStateError(error: unknown, folder: string): SandboxStateFolderError {
  if (error instanceof SandboxStateFolderError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new SandboxStateFolderError('unusable', `could not use ${folder} as the state folder: ${reason}`, {
    hint: 'name another folder with `--state`',
  });
}

/** Locks an open file until it is closed; returns false when another process has the lock. */
type NonBlockingFileLocker = (descriptor: number) => boolean;

/**
 * A kind of lock: fcntl(2) from the native library, flock(2) from the program flock. The two kinds do not exclude each other. On
 * macOS the library uses flock(2) and on Windows LockFileEx, under the same name.
 */
export interface LockKind {
  readonly name: 'fcntl' | 'flock';
  readonly tryLock: NonBlockingFileLocker;
}

/**
 * Locks the file `path`, which is never removed and whose only content is the kind of its lock, and returns the function that
 * releases the lock. The kernel releases the lock of a file when the process ends for any reason, so no lock remains after a
 * crash. Throws a StateError.
 * @param kinds the kinds of locks that this system has, the preferred one first
 */
export function lockStateFolder(path: string, kinds = listLockKinds()): () => void {
  let descriptor: number | undefined = openSync(path, 'a+', 0o600);
  const release = (): void => {
    if (descriptor !== undefined) closeSync(descriptor);
    descriptor = undefined;
  };
  try {
    if (tryLockWithRecordedKind(descriptor, kinds) && isSameFile(path, descriptor)) return release;
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

/** Locks the file with the kind that it records. The first process records its preferred kind. */
function tryLockWithRecordedKind(descriptor: number, kinds: readonly LockKind[]): boolean {
  const recorded = decodeLockKind(readLockFile(descriptor));
  const kind = recorded === undefined ? kinds[0] : kinds.find(({ name }) => name === recorded);
  if (kind === undefined) {
    const needed = recorded === 'fcntl' ? 'the native lock library' : 'the flock program';
    throw new Error(`other sandboxes lock it with ${recorded}, which needs ${needed}`);
  }
  return kind.tryLock(descriptor) && recordLockKind(descriptor, kind);
}

/** Returns false when another process, which has locked the file with another kind, has recorded its kind first. */
function recordLockKind(descriptor: number, { name }: LockKind): boolean {
  // Windows has only one kind of lock, and cannot read a locked file.
  if (process.platform === 'win32') return true;
  const text = readLockFile(descriptor);
  if (decodeLockKind(text) === undefined) {
    try {
      // Only the rest of an interrupted write is removed, and never what another process has recorded since the read.
      if (text !== '') ftruncateSync(descriptor);
      // Of two processes that append at the same time, both read the same first line.
      writeSync(descriptor, `${name}\n`);
    } catch {
      // On a full disk the kind cannot be recorded, but the lock itself needs no disk space.
      return true;
    }
  }
  const recorded = decodeLockKind(readLockFile(descriptor));
  return recorded === undefined || recorded === name;
}

function readLockFile(descriptor: number): string {
  if (process.platform === 'win32') return '';
  const bytes = Buffer.alloc(6);
  return bytes.toString('latin1', 0, readSync(descriptor, bytes, 0, bytes.length, 0));
}

function decodeLockKind(text: string): LockKind['name'] | undefined {
  if (text === 'fcntl\n') return 'fcntl';
  return text === 'flock\n' ? 'flock' : undefined;
}

/**
 * The program flock locks the file descriptor that it inherits; the lock belongs to the open file and remains after flock has
 * exited.
 */
const lockFileWithFlock: NonBlockingFileLocker = (descriptor) => {
  const { status, stderr, error } = spawnSync('flock', ['-n', '3'], {
    stdio: ['ignore', 'ignore', 'pipe', descriptor],
    encoding: 'utf8',
    // The program needs no other variable, and must not receive the passwords that the sandbox has.
    env: { PATH: process.env.PATH, LD_LIBRARY_PATH: process.env.LD_LIBRARY_PATH },
  });
  if (error !== undefined) throw new Error('this system has neither a native lock library nor the flock program');
  const message = stderr.trim();
  if (status === 0) return true;
  if (status === 1 && message === '') return false;
  throw new Error(message === '' ? `flock exited with status ${status}` : message);
};

/** The kinds of locks that this system has, the preferred one first. */
export function listLockKinds(): readonly LockKind[] {
  return [...nativeLockKind(), { name: 'flock', tryLock: lockFileWithFlock }];
}

/** The native lock library has no build for the C library musl, and it crashes Bun and Deno. */
function nativeLockKind(): readonly LockKind[] {
  if ('Bun' in globalThis || 'Deno' in globalThis) return [];
  try {
    const native: { tryLock(descriptor: number): boolean } = createRequire(import.meta.url)('fs-native-extensions');
    return [{ name: 'fcntl', tryLock: (descriptor) => native.tryLock(descriptor) }];
  } catch {
    return [];
  }
}

/** Returns false when the file was removed after it was opened, because a lock on a removed file excludes no other process. */
function isSameFile(path: string, descriptor: number): boolean {
  const locked = fstatSync(descriptor, { bigint: true });
  const named = statSync(path, { bigint: true, throwIfNoEntry: false });
  return named !== undefined && named.ino === locked.ino && named.dev === locked.dev;
}
