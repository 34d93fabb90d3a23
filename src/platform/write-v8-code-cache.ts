import { closeSync, lstatSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTemporary, fileErrorCode } from './files.ts';
import { resetFlags } from './memory.ts';
import { type CodeCache, encodeCache } from './v8-code-cache.ts';

const maxFilesOfPack = 3;
const maxTotalBytes = 16_000_000;
/** Milliseconds; an older temporary file was left by a killed process. */
const maxTemporaryAgeMs = 60_000;

/**
 * Keeps the functions that this process has compiled, for later starts, and removes old files. `moduleNames` are the modules
 * that have run. A cache must not make a command fail, so every error is ignored; files are not synced to the disk, because a
 * checksum is verified when they are read.
 */
export function writeCache(cache: CodeCache, moduleNames: readonly string[]): void {
  const packs = cache.incompletePacks();
  // V8 rejects data that was written with other flags.
  if (packs.length === 0 || !resetFlags()) return;
  try {
    makeFolder(cache.folder);
    for (const { script, path, head, cachedModules } of packs)
      writeCacheFile(path, () =>
        encodeCache(head, [...new Set([...cachedModules, ...moduleNames])], script.createCachedData()),
      );
    removeOldFiles(cache.folder);
  } catch {
    // The next start compiles the program again.
  }
}

/** The state folder must exist: the program leaves nothing on a machine where it was not set up. */
function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if (fileErrorCode(error) !== 'EEXIST') throw error;
  }
}

/** Creates the file first: if the file cannot be created, the content, which takes much longer, is not created. */
function writeCacheFile(path: string, content: () => Uint8Array): void {
  const { descriptor, temporary } = createTemporary(path);
  try {
    writeFileSync(descriptor, content());
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  } finally {
    closeSync(descriptor);
  }
}

/** Removes old files of the cache, and keeps the newest. */
function removeOldFiles(folder: string): void {
  const files = readdirSync(folder)
    .flatMap((name) => {
      const status = lstatSync(join(folder, name), { throwIfNoEntry: false });
      return status === undefined ? [] : [{ name, size: status.size, mtimeMs: status.mtimeMs }];
    })
    .toSorted((one, other) => other.mtimeMs - one.mtimeMs);
  const kept = new Map<string, number>();
  let total = 0;
  for (const { name, size, mtimeMs } of files) {
    const pack = /^(.+)-[0-9a-f]{8}$/.exec(name)?.[1];
    const count = (kept.get(pack ?? '') ?? 0) + 1;
    const isInUse =
      pack === undefined
        ? Date.now() - mtimeMs < maxTemporaryAgeMs
        : count <= maxFilesOfPack && total + size <= maxTotalBytes;
    if (!isInUse) rmSync(join(folder, name), { force: true });
    else if (pack !== undefined) {
      kept.set(pack, count);
      total += size;
    }
  }
}
