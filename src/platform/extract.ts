import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { createTemporary, ensureFolder, fileErrorCode } from './files.ts';
import { requireOwnFolder, requireUserFile } from './own-folder.ts';

/**
 * The path of a file with exactly these bytes in a private folder, for what the system can load from a file only, such as a native
 * module. A file with other bytes, a link, or a file of another user is replaced. The folder is created with mode 0700 and has to
 * belong to this user, and no other user may be able to replace it or one of its parents. Throws when the folder is not private or
 * cannot be written to.
 */
export function extractFile(folder: string, name: string, bytes: Uint8Array): string {
  createPrivateFolder(folder);
  const path = join(folder, name);
  if (hasBytes(path, bytes)) return path;
  const { descriptor, temporary } = createTemporary(path);
  try {
    writeFileSync(descriptor, bytes);
    // The rename replaces a link itself, not the file to which it points.
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  } finally {
    closeSync(descriptor);
  }
  // Reads the written file back: its content can differ because of a full disk or another program.
  if (!hasBytes(path, bytes)) throw new Error(`${path} has other bytes than were written`);
  return path;
}

/**
 * The path of a file with exactly these bytes that an administrator has installed; undefined when it is missing, when it has other
 * bytes, as after an update of the package, or when another user than root could have written or replaced it.
 */
export function installedFile(folder: string, name: string, bytes: Uint8Array): string | undefined {
  // Without user IDs, as on Windows, nothing shows who can write there.
  if (process.geteuid === undefined) return undefined;
  const path = join(folder, name);
  try {
    requireUserFile(path);
    return hasBytes(path, bytes, 0) ? path : undefined;
  } catch {
    return undefined;
  }
}

function createPrivateFolder(folder: string): void {
  ensureFolder(dirname(folder));
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if (fileErrorCode(error) !== 'EEXIST') throw error;
  }
  const found = lstatSync(folder);
  if (!found.isDirectory()) throw new Error(`${folder} is not a folder`);
  // Windows has no user IDs and mode bits to check.
  const user = process.geteuid?.();
  if (user === undefined) return;
  if (found.uid !== user) throw new Error(`${folder} belongs to another user (uid ${found.uid})`);
  if ((found.mode & 0o077) !== 0) throw new Error(`other users have access to ${folder}`);
  // After the folder exists, because another user could have created a parent that was missing.
  requireOwnFolder(folder);
}

/** Compares all bytes, which is stricter than a checksum and needs no hash function. */
function hasBytes(path: string, bytes: Uint8Array, owner = process.geteuid?.()): boolean {
  let descriptor: number;
  try {
    descriptor = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    if (['ENOENT', 'ELOOP', 'EACCES'].includes(String(fileErrorCode(error)))) return false;
    throw error;
  }
  try {
    const found = fstatSync(descriptor);
    const isOwn = owner === undefined || found.uid === owner;
    return isOwn && found.isFile() && found.size === bytes.length && readFileSync(descriptor).equals(bytes);
  } finally {
    closeSync(descriptor);
  }
}
