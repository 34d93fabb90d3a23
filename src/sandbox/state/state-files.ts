import { chmodSync, closeSync, fsyncSync, mkdirSync, openSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** Creates the folder with mode 0700 unless it exists, and returns the names of its files. */
export function createPrivateFolderAndListFiles(path: string): readonly string[] {
  makeFolders(path);
  return readdirSync(path);
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

export function setOwnerOnlyFolderPermissions(path: string): void {
  if (process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0) chmodSync(path, 0o700);
}

export function readFileIfExists(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Resolves when the new content is synced to the disk. After a crash, the file contains either the old or the new content. */
export async function replaceFileDurably(path: string, bytes: Uint8Array): Promise<void> {
  const temporary = join(dirname(path), `.${basename(path)}.tmp`);
  const handle = await open(temporary, 'w', 0o600);
  try {
    await handle.writeFile(bytes);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(temporary, path);
  syncFolder(dirname(path));
}

export interface SandboxJournalFile {
  /** The length of the file in bytes. */
  readonly size: () => number;
  /** Resolves when the bytes are synced to the disk. The function must not be called again after it has failed. */
  readonly append: (bytes: Uint8Array) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Opens or creates the file and truncates it to `length` bytes; resolves when the change is synced to the disk. */
export async function openSandboxJournalFile(path: string, length: number): Promise<SandboxJournalFile> {
  const handle = await open(path, 'a', 0o600);
  try {
    await handle.truncate(length);
    await handle.sync();
    syncFolder(dirname(path));
  } catch (error) {
    await handle.close();
    throw error;
  }
  let size = length;
  return {
    size: () => size,
    append: async (bytes) => {
      await handle.appendFile(bytes);
      await handle.datasync();
      size += bytes.length;
    },
    close: () => handle.close(),
  };
}

/** Windows cannot open a folder to sync it, but its file system journals file names. */
function syncFolder(path: string): void {
  if (process.platform === 'win32') return;
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
