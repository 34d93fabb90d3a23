import { chmodSync, closeSync, fsyncSync, mkdirSync, openSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { type FileHandle, open, rename } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** Makes the folder for this user alone and lists what is in it. */
export function makePrivateFolder(path: string): readonly string[] {
  makeFolders(path);
  return readdirSync(path);
}

/** Step by step: `recursive` tries for ever where a file system answers every new name with ENOENT, as /proc does. */
function makeFolders(path: string, parents = true): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'EEXIST' && statSync(path).isDirectory()) return;
    if (code !== 'ENOENT' || !parents || dirname(path) === path) throw error;
    makeFolders(dirname(path));
    makeFolders(path, false);
  }
}

export function restrictToOwner(path: string): void {
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

/** A crash leaves either the old file or the new one. `before` is done when the new one is on the disk but has no name yet. */
export async function replaceFileDurably(path: string, bytes: Uint8Array, before: () => Promise<void>): Promise<void> {
  const temporary = join(dirname(path), `.${basename(path)}.tmp`);
  const handle = await open(temporary, 'w', 0o600);
  try {
    await handle.writeFile(bytes);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await before();
  await rename(temporary, path);
  syncFolder(dirname(path));
}

/** An append-only file. An append has reached the disk when it resolves; after one that failed none must follow. */
export interface AppendOnlyFile {
  readonly size: () => number;
  readonly append: (bytes: Uint8Array) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Opens or makes the file, cuts it to its first `length` bytes and waits until they are on the disk. */
export async function openAppendOnlyFile(path: string, length: number): Promise<AppendOnlyFile> {
  const handle: FileHandle = await open(path, 'a', 0o600);
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

function syncFolder(path: string): void {
  // Windows cannot open a folder; its file system journals the names itself.
  if (process.platform === 'win32') return;
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
