import {
  closeSync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

/**
 * Creates the folder and its parents with mode 0700. Not with `recursive`, which never ends on a file system that returns
 * ENOENT for every new name, such as /proc.
 */
export function ensureFolder(path: string): void {
  if (makeFolder(path)) return;
  ensureFolder(dirname(path));
  if (!makeFolder(path)) throw new Error(`cannot create the folder ${path}`);
}

/** False when its parent is missing. */
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

/** The text of the file; undefined when it is missing. Throws every other error. */
export function readTextIfPresent(path: string): string | undefined {
  return readBytesIfPresent(path)?.toString('utf8');
}

/** The text of the file; undefined when it is missing or cannot be read. */
export function readTextIfReadable(path: string): string | undefined {
  try {
    return readTextIfPresent(path);
  } catch {
    return undefined;
  }
}

export function readBytesIfPresent(path: string): Buffer | undefined {
  return unlessMissing(() => readFileSync(path));
}

/** Replaces the file atomically and durably: after a crash it contains either the old or the new text. */
export function writeAtomically(path: string, text: string): void {
  const target = resolveLinks(path);
  // A device or pipe must not be replaced.
  if (statSync(target, { throwIfNoEntry: false })?.isFile() === false)
    throw new Error(`${target} is not a regular file`);
  const { descriptor, temporary } = createTemporary(target);
  try {
    writeFileSync(descriptor, text);
    fsyncSync(descriptor);
    renameSync(temporary, target);
  } catch (error) {
    closeSync(descriptor);
    rmSync(temporary, { force: true });
    throw error;
  }
  closeSync(descriptor);
  syncFolder(dirname(target));
}

/** A new file with a header and reserved disk space after it. */
export interface PreallocatedFile {
  /**
   * Writes at the begin of the reserved space and syncs the file; `onWritten` is called in between. More bytes extend the file,
   * which fails on a full disk.
   */
  fill(bytes: Uint8Array, onWritten?: () => void): void;
  /** The path still names this file: no other process has replaced or removed it. */
  isAt(path: string): boolean;
  close(): void;
}

/** Creates a new file with `head` and `room` zeros; file and folder are synced when it returns. Throws when the file exists. */
export function createPreallocatedFile(path: string, head: string, room: number): PreallocatedFile {
  const start = Buffer.from(head, 'utf8');
  const descriptor = openSync(path, 'wx', 0o600);
  try {
    writeFileSync(descriptor, Buffer.concat([start, Buffer.alloc(room)]));
    fsyncSync(descriptor);
    syncFolder(dirname(path));
  } catch (error) {
    closeSync(descriptor);
    rmSync(path, { force: true });
    throw error;
  }
  return {
    fill(bytes, onWritten) {
      writeAllAt(descriptor, bytes, start.length);
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
    close: () => closeSync(descriptor),
  };
}

/** Whether the path names the open file. */
export function isSameFile(path: string, descriptor: number): boolean {
  const ours = fstatSync(descriptor, { bigint: true });
  const named = statSync(path, { bigint: true, throwIfNoEntry: false });
  return named !== undefined && named.ino === ours.ino && named.dev === ours.dev;
}

/** Removes the file durably. A missing file is not an error. */
export function removeDurably(path: string): void {
  const removed = unlessMissing(() => {
    unlinkSync(path);
    return true;
  });
  if (removed === true) syncFolder(dirname(path));
}

/** Renames a file durably within its folder; replaces an existing file. */
export function renameDurably(from: string, to: string): void {
  renameSync(from, to);
  syncFolder(dirname(to));
}

/** The names in a folder; none when it is missing. */
export function listFolder(folder: string): readonly string[] {
  return unlessMissing(() => readdirSync(folder)) ?? [];
}

/** Follows symbolic links, so that a config file that links into a repository is replaced there and the link stays. */
function resolveLinks(path: string): string {
  let target = resolve(path);
  // realpath fails for a link to a missing file, so links are followed here; 40 is the limit of Linux.
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

/**
 * A new file of mode 0600 beside the target: `.<target>.<pid>.<number>.tmp`.
 * @param alsoFree other endings of the name, in place of `.tmp`, for which no file may exist: a killed process with the same
 *   process ID, which is usual in containers, may have left the only copy of a grant there
 */
export function createTemporary(
  target: string,
  alsoFree: readonly string[] = [],
): { descriptor: number; temporary: string } {
  for (;;) {
    temporaries += 1;
    const name = join(dirname(target), `.${basename(target)}.${process.pid}.${temporaries}`);
    if (alsoFree.some((ending) => lstatSync(`${name}${ending}`, { throwIfNoEntry: false }) !== undefined)) continue;
    const temporary = `${name}.tmp`;
    try {
      return { descriptor: openSync(temporary, 'wx', 0o600), temporary };
    } catch (error) {
      // Left by a killed process with the same process ID.
      if (fileErrorCode(error) !== 'EEXIST') throw error;
    }
  }
}

export function writeAllAt(descriptor: number, bytes: Uint8Array, position: number): void {
  for (let done = 0; done < bytes.length; ) {
    done += writeSync(descriptor, bytes, done, bytes.length - done, position + done);
  }
}

export function syncFolder(path: string): void {
  // Windows cannot open a folder; its file system journals the rename.
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
