import {
  closeSync,
  fdatasyncSync,
  fsyncSync,
  ftruncateSync,
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
 * Makes the folder and its parents, for this user alone. Step by step: `recursive` tries for ever where a file system
 * answers every new name with ENOENT, as /proc does.
 */
export function ensureFolder(path: string): void {
  if (makeFolder(path)) return;
  ensureFolder(dirname(path));
  if (!makeFolder(path)) throw new Error(`the folder ${path} cannot be made where it is`);
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

/** The file's text; undefined when there is no such file. Every other failure is thrown. */
export function readTextIfPresent(path: string): string | undefined {
  return readBytesIfPresent(path)?.toString('utf8');
}

/** The same for what is only good to know: undefined as well where it cannot be read. */
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

/** Replaces the file as a whole and durably: a crash leaves either the old text or the new one. */
export function writeAtomically(path: string, text: string): void {
  prepareFileReplacement(path, 0).commit(text);
}

/** A replacement whose space is already on the disk, so that committing it cannot fail for want of room. */
export interface FileReplacement {
  /** Durable when it returns. Either way nothing temporary is left behind. `onStage` is called as the text is written, and as it is synced. */
  commit(text: string, onStage?: (stage: 'written' | 'synced') => void): void;
  abandon(): void;
}

export function prepareFileReplacement(path: string, reserve: number): FileReplacement {
  const target = resolveLinks(path);
  // A device or a pipe would be replaced by a file.
  if (statSync(target, { throwIfNoEntry: false })?.isFile() === false) throw new Error(`${target} is no file`);
  const { descriptor, temporary } = createTemporary(target);
  const discard = () => {
    closeSync(descriptor);
    rmSync(temporary, { force: true });
  };
  try {
    writeFileSync(descriptor, Buffer.alloc(reserve));
    fsyncSync(descriptor);
  } catch (error) {
    discard();
    throw error;
  }
  return {
    commit(text, onStage) {
      try {
        const bytes = Buffer.from(text, 'utf8');
        writeAllAt(descriptor, bytes, 0);
        onStage?.('written');
        ftruncateSync(descriptor, bytes.length);
        fsyncSync(descriptor);
        onStage?.('synced');
        renameSync(temporary, target);
      } catch (error) {
        discard();
        throw error;
      }
      closeSync(descriptor);
      syncFolder(dirname(target));
    },
    abandon: discard,
  };
}

/** A new file with room behind its head that is already on the disk. */
export interface PreallocatedFile {
  /**
   * Writes into the room, from its beginning, and waits for the disk; `onWritten` is called in between. Bytes beyond the
   * room make the file grow, which a full disk refuses.
   */
  fill(bytes: Uint8Array, onWritten?: () => void): void;
  close(): void;
}

/** Creates the file, which must not exist, as `head` and `room` zeros; file and folder are synced when it returns. */
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
    close: () => closeSync(descriptor),
  };
}

/** Removes the file so that it stays removed after a crash. One that was not there is removed as well. */
export function removeDurably(path: string): void {
  const removed = unlessMissing(() => {
    unlinkSync(path);
    return true;
  });
  if (removed === true) syncFolder(dirname(path));
}

/** Gives a file another name in the same folder, replacing what has it, so that it stays after a crash. */
export function renameDurably(from: string, to: string): void {
  renameSync(from, to);
  syncFolder(dirname(to));
}

/** The names in a folder; none when there is no such folder. */
export function listFolder(folder: string): readonly string[] {
  return unlessMissing(() => readdirSync(folder)) ?? [];
}

/** A config file may be a link into a repository of dotfiles: the file it leads to is replaced, and the link stays. */
function resolveLinks(path: string): string {
  let target = resolve(path);
  // A link that leads nowhere yet has no real path, so it is followed by hand; as deep as Linux follows one.
  for (let depth = 0; depth < 40; depth++) {
    const at = target;
    if (unlessMissing(() => lstatSync(at))?.isSymbolicLink() !== true) return withRealFolder(target);
    target = resolve(dirname(target), readlinkSync(target));
  }
  throw Object.assign(new Error(`${path} is a link that leads to itself`), { code: 'ELOOP' });
}

function withRealFolder(path: string): string {
  return join(unlessMissing(() => realpathSync(dirname(path))) ?? dirname(path), basename(path));
}

let temporaries = 0;

function createTemporary(target: string): { descriptor: number; temporary: string } {
  for (;;) {
    temporaries += 1;
    const temporary = join(dirname(target), `.${basename(target)}.${process.pid}.${temporaries}.tmp`);
    try {
      return { descriptor: openSync(temporary, 'wx', 0o600), temporary };
    } catch (error) {
      // Left by a process of the same number that was killed: the next name is free.
      if (codeOf(error) !== 'EEXIST') throw error;
    }
  }
}

function writeAllAt(descriptor: number, bytes: Uint8Array, position: number): void {
  for (let done = 0; done < bytes.length; ) {
    done += writeSync(descriptor, bytes, done, bytes.length - done, position + done);
  }
}

function syncFolder(path: string): void {
  // Windows cannot open a folder for writing; its file system journals the rename itself.
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
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
