import { closeSync, constants, fstatSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { CliError } from '../base/errors.ts';
import { storageError } from '../base/storage-error.ts';
import { findProgram, runChildSync } from './external-program.ts';
import { ensureFolder, fileErrorCode, isSameFile } from './files.ts';
import type { Clock } from './host.ts';
import { accessCommand } from './own-folder.ts';

/**
 * Locks an open file until it is closed; returns false when another process has the lock. Throws when the file cannot be locked
 * on this system.
 */
export type TryLock = (descriptor: number) => boolean;

/**
 * The program flock locks the file descriptor that it inherits. The lock belongs to the open file, so it remains after the
 * program flock has ended.
 */
export const tryFlock: TryLock = (descriptor) => {
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

/**
 * The two kinds of locks do not exclude each other: fcntl(2) from the npm library, flock(2) from the flock program. On macOS the
 * library uses flock(2) and on Windows LockFileEx, under the same name.
 */
export interface LockMechanism {
  readonly name: 'fcntl' | 'flock';
  readonly lock: TryLock;
  /**
   * Releases the lock at once. Only on Windows, which may release the lock of a closed file later (LockFileEx); elsewhere a child
   * process that has inherited the file descriptor must keep the lock.
   */
  readonly unlock?: (descriptor: number) => void;
}

let native: readonly LockMechanism[] | undefined;

/**
 * The kinds of locks that this installation can acquire, the preferred one first. The lock library is loaded on first use,
 * because loading it takes 10 ms.
 */
export function listMechanisms(): readonly LockMechanism[] {
  const flock: LockMechanism = { name: 'flock', lock: tryFlock };
  if ('Bun' in globalThis || 'Deno' in globalThis) return [flock];
  native ??= nativeKind();
  return [...native, flock];
}

/**
 * The kind of lock that the lock file records, else the preferred kind. Throws when this installation cannot acquire locks of
 * the recorded kind.
 */
export function chooseMechanism(descriptor: number, kinds: readonly LockMechanism[]): LockMechanism {
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
export function writeKind(descriptor: number, { name }: LockMechanism): boolean {
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

function recordedKind(descriptor: number): LockMechanism['name'] | undefined {
  if (process.platform === 'win32') return undefined;
  return decodeKind(readStart(descriptor));
}

function readStart(descriptor: number): string {
  const bytes = Buffer.alloc(6);
  return bytes.toString('latin1', 0, readSync(descriptor, bytes, 0, bytes.length, 0));
}

function decodeKind(text: string): LockMechanism['name'] | undefined {
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
function nativeKind(): readonly LockMechanism[] {
  const load = createRequire(import.meta.url);
  try {
    const library: NativeLockLibrary = load('fs-native-extensions');
    const unlock = process.platform === 'win32' ? { unlock: (descriptor: number) => library.unlock(descriptor) } : {};
    return [{ name: 'fcntl', lock: (descriptor) => library.tryLock(descriptor), ...unlock }];
  } catch {
    return [];
  }
}

export interface HeldLock {
  /**
   * A child process that inherits the file descriptor keeps the lock until the child ends, because the lock belongs to the open
   * file.
   */
  readonly descriptor: number;
  release(): void;
}

export interface LockOptions {
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
export async function acquireLock(path: string, options: LockOptions): Promise<HeldLock> {
  // The waiting time is the sum of the pauses, because the system time may be changed during the wait.
  let left = options.waitMs;
  for (let isWaiting = false; ; isWaiting = true) {
    options.signal?.throwIfAborted();
    const held = tryAcquire(path);
    if (held !== undefined) return held;
    if (!isWaiting) options.onWaiting?.();
    if (left <= 0) throw busyError(path, options.waitMs);
    const pauseMs = Math.min(left, pause(options.random));
    await options.clock.sleep(pauseMs, options.signal);
    left -= pauseMs;
  }
}

/** Tries to acquire the lock without waiting; returns undefined when another process has it. */
export function tryAcquire(path: string, kinds = listMechanisms()): HeldLock | undefined {
  for (;;) {
    const descriptor = open(path);
    try {
      const kind = chooseMechanism(descriptor, kinds);
      if (!kind.lock(descriptor)) {
        closeSync(descriptor);
        return undefined;
      }
      // Closing the file descriptor releases the lock: no other code opens the lock file, and no child process inherits it by
      // accident.
      if (writeKind(descriptor, kind) && isSameFile(path, descriptor))
        return { descriptor, release: () => release(descriptor, kind) };
    } catch (error) {
      closeSync(descriptor);
      throw lockError(path, error);
    }
    // If the lock file was removed or is locked with another kind of lock, the acquired lock excludes no other process.
    closeSync(descriptor);
  }
}

function release(descriptor: number, kind: LockMechanism): void {
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

function pause(random: LockOptions['random']): number {
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
      accessCommand(error) ?? 'set CLOUDCTL_CONFIG_DIR and CLOUDCTL_STATE_DIR to folders that you own on a local disk',
  });
}
