import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { quoteShellArg } from '../base/text.ts';
import { createTemporary, fileErrorCode, fsyncFolder, moveCommand, readOpenFile, writeAt } from './files.ts';
import { renameOver } from './rename-over-existing-file.ts';

/** The error for a file or folder with secrets that another user could have created, read or changed. */
export class InsecureFileError extends Error {
  override readonly name = 'InsecureFileError';
  /** The command that corrects the owner or the mode of the file. */
  readonly hint: string;

  constructor(message: string, hint: string) {
    super(message);
    this.hint = hint;
  }
}

/**
 * The text of a file with secrets; undefined when the file is missing. Throws InsecureFileError when the file is a symbolic
 * link, belongs to another user, or can be read by others, because another user may have created or changed it.
 */
export function readSecretFile(path: string): string | undefined {
  return readSecretBytes(path)?.toString('utf8');
}

/** The bytes of a file with secrets; see readSecretFile. */
export function readSecretBytes(path: string): Buffer | undefined {
  const descriptor = openWithoutLink(path);
  if (descriptor === undefined) return undefined;
  try {
    requireSecret(path, fstatSync(descriptor));
    return readOpenFile(path, descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Proves that a file with secrets can be replaced: reserves space in a temporary file of the same folder, and makes every system
 * call of `writeSecretFile` once. Throws the error of the operating system; the file is not changed.
 * @param namedAfter the path from whose name the names of the temporary files are made; any process may remove them
 */
export function requireReplaceable(path: string, reserve: number, namedAfter: string, attempt = 1): void {
  requireRegularFile(path);
  const { descriptor, temporary } = createTemporary(namedAfter);
  const [renamed, link] = ['.ready.tmp', '.link.tmp'].map((ending) => temporary.replace(/\.tmp$/, ending));
  try {
    writeAt(descriptor, Buffer.alloc(reserve), 0);
    fsyncSync(descriptor);
    requireSameMount(path, link ?? '');
    renameOver(temporary, renamed ?? '');
    fsyncFolder(dirname(path));
  } catch (error) {
    // Another process has removed the temporary file.
    if (fileErrorCode(error) !== 'ENOENT' || attempt === 10) throw error;
    requireReplaceable(path, reserve, namedAfter, attempt + 1);
  } finally {
    closeSync(descriptor);
    for (const left of [temporary, renamed, link]) if (left !== undefined) rmSync(left, { force: true });
  }
}

/**
 * Replaces a file with secrets. The function makes no test before the write, because the text may be the only copy of a grant:
 * it tries every way to store the text.
 */
export function writeSecretFile(path: string, text: string): void {
  requireRegularFile(path);
  const { descriptor, temporary } = createTemporary(path);
  try {
    writeFileSync(descriptor, text);
    syncIfPossible(descriptor);
    renameOver(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  } finally {
    closeSync(descriptor);
  }
  fsyncFolder(dirname(path));
}

/** If the file cannot be synced, its text may be lost in a power failure, which is better than not storing it. */
function syncIfPossible(descriptor: number): void {
  try {
    fsyncSync(descriptor);
  } catch {
    // The temporary file is renamed even if it could not be synced.
  }
}

const noFollow = constants.O_NOFOLLOW ?? 0;

function openWithoutLink(path: string): number | undefined {
  try {
    // Opening a pipe would block the program until another process writes to the pipe.
    return openSync(path, constants.O_RDONLY | noFollow | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    if (fileErrorCode(error) === 'ENOENT') return undefined;
    throw fileErrorCode(error) === 'ELOOP' ? symbolicLinkError(path) : error;
  }
}

interface FileFacts {
  readonly uid: number;
  readonly mode: number;
  isFile(): boolean;
  isDirectory(): boolean;
}

function requireSecret(path: string, file: FileFacts): void {
  if (!file.isFile()) throw irregularFileError(path);
  // Windows has no user IDs and mode bits to check.
  const user = process.geteuid?.();
  if (user === undefined) return;
  if (file.uid !== user && file.uid !== 0)
    throw new InsecureFileError(
      `${path} belongs to another user (uid ${file.uid})`,
      `remove the file and log in again: \`rm ${quoteShellArg(path)}\``,
    );
  if ((file.mode & 0o077) !== 0)
    throw new InsecureFileError(
      `${path} has mode ${octal(file.mode)}: other users can read or change it`,
      `check who may have read the file, then run \`chmod 600 ${quoteShellArg(path)}\``,
    );
}

function requireRegularFile(path: string): void {
  const target = lstatSync(path, { throwIfNoEntry: false });
  if (target?.isSymbolicLink() === true) throw symbolicLinkError(path);
  if (target !== undefined && !target.isFile()) throw irregularFileError(path);
}

/**
 * A file that is a mount point itself (a container with `-v file:file`) cannot be replaced. The system refuses a hard link
 * between two mounts as it refuses a rename, and a hard link changes no file. Renaming the file to its own name would also show
 * whether it is a mount point, but could overwrite a newer text of another process.
 */
function requireSameMount(path: string, probe: string): void {
  try {
    rmSync(probe, { force: true });
    linkSync(path, probe);
  } catch (error) {
    const code = String(fileErrorCode(error));
    // ENOENT means that there is no file to replace. File systems without hard links return one of the other error codes.
    if (['ENOENT', 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'].includes(code)) return;
    if (code !== 'EXDEV') throw error;
    throw new InsecureFileError(
      `${path} is mounted as a single file, so it cannot be replaced`,
      `mount the folder of the file instead: ${dirname(path)}`,
    );
  }
}

function irregularFileError(path: string): InsecureFileError {
  return new InsecureFileError(`${path} is not a regular file`, `move it away: ${moveCommand(path)}`);
}

function symbolicLinkError(path: string): InsecureFileError {
  return new InsecureFileError(
    `${path} is a symbolic link; sessions are not read or written through links`,
    `remove the link: \`rm ${quoteShellArg(path)}\``,
  );
}

function octal(mode: number): string {
  return `0${(mode & 0o777).toString(8)}`;
}
