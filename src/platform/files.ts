import {
  accessSync,
  closeSync,
  constants,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  realpathSync,
  rmSync,
  type Stats,
  statSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { CliError } from '../base/errors.ts';
import { storageError } from '../base/storage-error.ts';
import { formatBytes, quoteShellArg } from '../base/text.ts';
import { isHomeless, requireHome } from './folders.ts';
import { renameOver } from './rename-over-existing-file.ts';

/**
 * Creates the folder and its parents with mode 0700. The folder is not created with the option `recursive`, which never ends on
 * a file system that returns ENOENT for every new name, such as /proc.
 */
export function ensureFolder(path: string): void {
  requireHome(path);
  if (makeFolder(path)) return;
  ensureFolder(dirname(path));
  if (!makeFolder(path)) throw new Error(`cannot create the folder ${path}`);
}

/**
 * Creates the folder in which a command records what it does, so that a command that cannot record ends before its first request.
 * @param elsewhere the action that uses another folder, such as "set CLOUDCTL_STATE_DIR to a folder that you can write to"
 */
export function requireWritableFolder(path: string, elsewhere: string): void {
  if (isHomeless(path))
    throw new CliError('config_invalid', 'cannot record what the command does: this user has no home folder', {
      hint: elsewhere,
    });
  try {
    ensureFolder(path);
    accessSync(path, constants.W_OK | constants.X_OK);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw storageError(`could not write to the folder ${path}: ${reason}`, error, { elsewhere });
  }
}

/** Whether nothing can be recorded in the folder, for a reason other than a full disk. */
export function isUnwritable(path: string): boolean {
  try {
    ensureFolder(path);
    accessSync(path, constants.W_OK | constants.X_OK);
    return false;
  } catch (error) {
    return isHomeless(path) || unwritableCodes.has(fileErrorCode(error));
  }
}

const unwritableCodes: ReadonlySet<unknown> = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOTDIR']);

/** Returns false when the parent of the folder is missing. */
function makeFolder(path: string): boolean {
  try {
    mkdirSync(path, { mode: 0o700 });
    return true;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'EEXIST' && statSync(path).isDirectory()) return true;
    if (code === 'ENOENT' && dirname(path) !== path) return false;
    throw error;
  }
}

/** The error for what is in the place of a file of this program and cannot be read as one. */
export class UnusableFileError extends Error {
  override readonly name = 'UnusableFileError';
  /** What it is, such as "is a named pipe". */
  readonly what: string;

  constructor(path: string, what: string) {
    super(`${path} ${what}`);
    this.what = what;
  }
}

/** The usual files have a few kilobytes, the largest a few megabytes. */
const maxFileBytes = 64 * 1024 * 1024;

/**
 * The bytes of a file that this program has written or that configures it; undefined when the file is missing. Throws
 * UnusableFileError for anything but a regular file, because reading a pipe or a device may never end, and for a file with more
 * than `most` bytes. The check comes before the file is opened, because opening a device may change it, and once more after.
 */
export function readBytes(
  path: string,
  most: number = maxFileBytes,
  check: (openFile: Stats) => void = () => {},
): Buffer | undefined {
  return unlessMissing(() => {
    const kind = describeSpecialFile(statSync(path));
    if (kind !== undefined) throw new UnusableFileError(path, kind);
    // A pipe that has just been put into this place would block the program until another process opens it.
    const descriptor = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    try {
      check(fstatSync(descriptor));
      return readOpenFile(path, descriptor, most);
    } finally {
      closeSync(descriptor);
    }
  });
}

/** The same for an open file. */
export function readOpenFile(path: string, descriptor: number, most: number = maxFileBytes): Buffer {
  const file = fstatSync(descriptor);
  const kind = describeSpecialFile(file);
  if (kind !== undefined) throw new UnusableFileError(path, kind);
  const bytes = Buffer.allocUnsafe(Math.min(file.size, most) + 1);
  const chunks: Buffer[] = [];
  for (let length = 0; ; ) {
    const read = readSync(descriptor, bytes, 0, bytes.length, null);
    if (read === 0) return Buffer.concat(chunks);
    length += read;
    if (length > most) throw new UnusableFileError(path, `has more than ${formatBytes(most)}`);
    chunks.push(Buffer.from(bytes.subarray(0, read)));
  }
}

function describeSpecialFile(file: Stats): string | undefined {
  if (file.isFile()) return undefined;
  if (file.isDirectory()) return 'is a folder';
  if (file.isFIFO()) return 'is a named pipe';
  return file.isSocket() ? 'is a socket' : 'is a device';
}

/** The text of the file; undefined when the file is missing. Throws every other error. */
export function readText(path: string): string | undefined {
  return readBytes(path)?.toString('utf8');
}

/** The text of the file; undefined when the file is missing or cannot be read. */
export function tryReadText(path: string): string | undefined {
  try {
    return readText(path);
  } catch {
    return undefined;
  }
}

/** The command that moves a file, folder or link away without replacing anything. */
export function moveCommand(path: string): string {
  const target = (number: number): string => `${path}.damaged${number === 1 ? '' : `-${number}`}`;
  const exists = (number: number): boolean => {
    try {
      return lstatSync(target(number), { throwIfNoEntry: false }) !== undefined;
    } catch {
      // The folder is a symbolic link to itself, or cannot be entered.
      return false;
    }
  };
  let number = 1;
  while (exists(number)) number += 1;
  return `\`mv ${quoteShellArg(path)} ${quoteShellArg(target(number))}\``;
}

/** Replaces the file atomically and durably: after a crash it contains either the old or the new text. */
export function writeAtomically(path: string, text: string): void {
  const target = resolveLinks(path);
  // A device or a pipe must not be replaced by a regular file.
  if (statSync(target, { throwIfNoEntry: false })?.isFile() === false)
    throw new Error(`${target} is not a regular file`);
  const { descriptor, temporary } = createTemporary(target);
  try {
    writeFileSync(descriptor, text);
    fsyncSync(descriptor);
    renameOver(temporary, target);
  } catch (error) {
    closeSync(descriptor);
    rmSync(temporary, { force: true });
    throw withPath(error, target);
  }
  closeSync(descriptor);
  fsyncFolder(dirname(target));
}

/** An error of a write has no path, because the file is open; it then says the path as those of other operations do. */
function withPath(error: unknown, path: string): unknown {
  if (!(error instanceof Error) || 'path' in error) return error;
  error.message = `${error.message} '${path}'`;
  return Object.assign(error, { path });
}

/** A new file with a header and reserved disk space after it, so that filling the space does not fail on a full disk. */
export interface ReservedFile {
  /**
   * Writes at the start of the reserved space and syncs the file; `onWritten` is called between the write and the sync. More
   * bytes than were reserved extend the file, which fails on a full disk.
   */
  fill(bytes: Uint8Array, onWritten?: () => void): void;
  /** Whether the path still names this file: false if another process has replaced or removed it. */
  isAt(path: string): boolean;
  close(): void;
}

/**
 * Creates a new file with `head` and `room` zero bytes; file and folder are synced before the function returns. The
 * function throws when the file already exists.
 */
export function reserveFile(path: string, head: string | Uint8Array, room: number): ReservedFile {
  const start = typeof head === 'string' ? Buffer.from(head) : head;
  const descriptor = openSync(path, 'wx', 0o600);
  try {
    writeFileSync(descriptor, Buffer.concat([start, Buffer.alloc(room)]));
    fsyncSync(descriptor);
    fsyncFolder(dirname(path));
  } catch (error) {
    closeSync(descriptor);
    rmSync(path, { force: true });
    throw withPath(error, path);
  }
  let isOpen = true;
  return {
    fill(bytes, onWritten) {
      writeAt(descriptor, bytes, start.length);
      onWritten?.();
      fdatasyncSync(descriptor);
    },
    isAt(other) {
      try {
        return isSameFile(other, descriptor);
      } catch {
        return false;
      }
    },
    close() {
      if (isOpen) closeSync(descriptor);
      isOpen = false;
    },
  };
}

/** Whether the path names the file that is open with this descriptor. */
export function isSameFile(path: string, descriptor: number): boolean {
  const ours = fstatSync(descriptor, { bigint: true });
  const named = statSync(path, { bigint: true, throwIfNoEntry: false });
  return named !== undefined && named.ino === ours.ino && named.dev === ours.dev;
}

/** Removes the file durably: the folder is synced before the function returns. Removing a missing file is not an error. */
export function removeDurably(path: string): void {
  const removed = unlessMissing(() => {
    unlinkSync(path);
    return true;
  });
  if (removed === true) fsyncFolder(dirname(path));
}

/** Renames a file durably within its folder; replaces an existing file. */
export function renameDurably(from: string, to: string): void {
  renameOver(from, to);
  fsyncFolder(dirname(to));
}

/** The names of the files in a folder; empty when the folder is missing. */
export function listFolder(folder: string): readonly string[] {
  return unlessMissing(() => readdirSync(folder)) ?? [];
}

/**
 * Symbolic links are followed, so that a config file that is a link into a repository is replaced in the repository and the
 * link stays.
 */
function resolveLinks(path: string): string {
  let target = resolve(path);
  // The function realpath fails for a link to a missing file, so links are followed one by one; Linux allows at most 40.
  for (let depth = 0; depth < 40; depth++) {
    const at = target;
    if (unlessMissing(() => lstatSync(at))?.isSymbolicLink() !== true) return withRealFolder(target);
    target = resolve(dirname(target), readlinkSync(target));
  }
  throw Object.assign(new Error(`${path} is a symbolic link to itself`), { code: 'ELOOP' });
}

function withRealFolder(path: string): string {
  return join(unlessMissing(() => realpathSync(dirname(path))) ?? dirname(path), basename(path));
}

let temporaries = 0;

/** Creates a new file of mode 0600 in the folder of the target, named `.<target>.<pid>.<number>.tmp`. */
export function createTemporary(target: string): { descriptor: number; temporary: string } {
  for (;;) {
    temporaries += 1;
    const temporary = join(dirname(target), `.${basename(target)}.${process.pid}.${temporaries}.tmp`);
    try {
      return { descriptor: openSync(temporary, 'wx', 0o600), temporary };
    } catch (error) {
      // An existing temporary file was left by a killed process with the same process ID, which is usual in containers.
      if (fileErrorCode(error) !== 'EEXIST') throw error;
    }
  }
}

export function writeAt(descriptor: number, bytes: Uint8Array, position: number): void {
  for (let done = 0; done < bytes.length; ) {
    done += writeSync(descriptor, bytes, done, bytes.length - done, position + done);
  }
}

export function fsyncFolder(path: string): void {
  // Windows cannot open a folder to sync it, but its file system journals the rename.
  if (process.platform === 'win32') return;
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function unlessMissing<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (fileErrorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

export function fileErrorCode(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

/** A text file with mode 0600 to which the program appends lines. */
interface AppendableTextFile {
  /** The complete lines that the file contained when it was opened. */
  readonly lines: readonly string[];
  /** Appends one line and returns when the line is stored on the disk. */
  append(line: string): void;
  close(): void;
}

/**
 * Opens or creates a file to append lines. @param keep selects the lines to keep; the others are removed before any line is
 * appended
 */
export function openAppendable(
  path: string,
  keep: (lines: readonly string[]) => readonly string[],
): AppendableTextFile {
  // Text after the last line break is a line that a crash has cut off, so it is removed.
  const complete = (readText(path) ?? '').split('\n').slice(0, -1);
  const lines = keep(complete);
  writeAtomically(path, lines.map((line) => `${line}\n`).join(''));
  const descriptor = openSync(path, 'a', 0o600);
  return {
    lines,
    append(line) {
      const bytes = Buffer.from(`${line}\n`);
      for (let done = 0; done < bytes.length; ) done += writeSync(descriptor, bytes, done);
      fsyncSync(descriptor);
    },
    close: () => closeSync(descriptor),
  };
}
