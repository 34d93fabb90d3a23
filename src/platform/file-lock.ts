import { closeSync, fstatSync, openSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { CliError } from '../errors.ts';
import { ensureFolder } from './files.ts';
import { type FileLocker, flockLocker } from './flock.ts';
import type { Clock } from './host.ts';

export interface HeldLock {
  /** A child that inherits it keeps the lock for as long as it lives: the lock belongs to the open file. */
  readonly descriptor: number;
  release(): void;
}

export interface LockOptions {
  /** Milliseconds to wait for other processes before the error `busy`. */
  readonly waitMs: number;
  readonly clock: Clock;
  readonly random: (bytes: number) => Uint8Array;
  readonly signal?: AbortSignal | undefined;
  /** Called once, when another process has it. */
  readonly onWaiting?: (() => void) | undefined;
}

/**
 * Takes the lock of a permanent empty file, which the kernel frees when its holder ends however it ends.
 * Polled: a waiter of the library that was given up would be granted the lock later.
 */
export async function acquireLock(path: string, options: LockOptions): Promise<HeldLock> {
  // Counted by the pauses: the time of day may be set meanwhile, either way.
  let left = options.waitMs;
  for (let waiting = false; ; waiting = true) {
    options.signal?.throwIfAborted();
    const held = tryAcquireLock(path);
    if (held !== undefined) return held;
    if (!waiting) options.onWaiting?.();
    if (left <= 0) throw busyError(path, options.waitMs);
    const nap = Math.min(left, pause(options.random));
    await options.clock.sleep(nap, options.signal);
    left -= nap;
  }
}

/** Takes the lock now, or returns undefined when another process has it. */
export function tryAcquireLock(path: string, lock: FileLocker = locker()): HeldLock | undefined {
  for (;;) {
    const descriptor = open(path);
    try {
      if (!lock(descriptor)) {
        closeSync(descriptor);
        return undefined;
      }
      // Closing is unlocking: nothing else in this program opens the file, and a child inherits it only on purpose.
      if (isSameFile(path, descriptor)) return { descriptor, release: () => closeSync(descriptor) };
    } catch (error) {
      closeSync(descriptor);
      throw lockError(path, error);
    }
    // Somebody removed the file: what was locked has no name any more and excludes nobody.
    closeSync(descriptor);
  }
}

function open(path: string): number {
  try {
    ensureFolder(dirname(path));
    return openSync(path, 'a', 0o600);
  } catch (error) {
    throw lockError(path, error);
  }
}

function isSameFile(path: string, descriptor: number): boolean {
  const ours = fstatSync(descriptor, { bigint: true });
  const named = statSync(path, { bigint: true, throwIfNoEntry: false });
  return named !== undefined && named.ino === ours.ino && named.dev === ours.dev;
}

let cachedLocker: FileLocker | undefined;

/** Loaded on first use (10 ms). The library has no build for musl, where the flock program takes its place. */
function locker(): FileLocker {
  cachedLocker ??= nativeLocker() ?? flockLocker;
  return cachedLocker;
}

function nativeLocker(): FileLocker | undefined {
  const load = createRequire(import.meta.url);
  try {
    const native: { tryLock(descriptor: number): boolean } = load('fs-native-extensions');
    return (descriptor) => native.tryLock(descriptor);
  } catch {
    return undefined;
  }
}

function pause(random: LockOptions['random']): number {
  const [byte = 0] = random(1);
  return 25 + (50 * byte) / 255;
}

function busyError(path: string, waitMs: number): CliError {
  return new CliError(
    'busy',
    `another cloudctl is still at work on this profile after ${Math.round(waitMs / 1000)} s`,
    {
      detail: `it holds the lock ${path}`,
      hint: 'wait for it to end, or end it, and run the command again',
    },
  );
}

function lockError(path: string, error: unknown): CliError {
  const reason = error instanceof Error ? error.message : String(error);
  return new CliError('internal', `could not lock a file in ${dirname(path)}: ${reason}`, {
    hint: 'it must be a folder of your own on a local disk: CLOUDCTL_CONFIG_DIR and CLOUDCTL_STATE_DIR name another',
    cause: error,
  });
}
