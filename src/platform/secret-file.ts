import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  linkSync,
  lstatSync,
  openSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { quoteShellArg } from '../base/text.ts';
import {
  createTemporaryFile,
  fileErrorCode,
  formatMoveCommand,
  fsyncFolder,
  readOpenFile,
  writeAllBytesAt,
} from './files.ts';
import { renameOverExistingFile } from './rename-over-existing-file.ts';

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
  const descriptor = openWithoutLink(path);
  if (descriptor === undefined) return undefined;
  try {
    requireSecret(path, fstatSync(descriptor));
    return readOpenFile(path, descriptor).toString('utf8');
  } finally {
    closeSync(descriptor);
  }
}

const readyEnding = '.ready.tmp';
const linkEnding = '.link.tmp';

/** The prepared replacement of a file with secrets: reserved disk space in a temporary file that replaces the file. */
export interface PreparedSecretFileReplacement {
  /** The temporary file. */
  readonly path: string;
  /**
   * The text is durable when `commit` returns. After an error the temporary file is kept, because it may contain the only copy
   * of the text. `onStage` is called after the write and after the sync. `mayReplace` is called before the rename; if it
   * returns false, the file is not replaced.
   */
  commit(text: string, onStage?: (stage: 'written' | 'synced') => void, mayReplace?: () => boolean): boolean;
  /** Whether the temporary file contains the whole text. */
  hasText(): boolean;
  /** Removes the temporary file, so that the file with secrets is not replaced. */
  abandon(): void;
}

/**
 * Reserves disk space in the folder of the file, and proves that `commit` can replace the file by making every system call of
 * `commit` once. Throws the error of the operating system, after removing the temporary file.
 * @param namedAfter the path from whose name the name of the temporary file is made. If it is another path, the temporary file
 * is a test that any process may remove: then it is created again.
 */
export function prepareSecretFileReplacement(
  path: string,
  reserve: number,
  namedAfter = path,
): PreparedSecretFileReplacement {
  requireReplaceable(path);
  const { descriptor, temporary: created } = createTemporaryFile(namedAfter, [readyEnding, linkEnding]);
  const temporary = created.replace(/\.tmp$/, readyEnding);
  let isOpen = true;
  const close = (): void => {
    if (isOpen) closeSync(descriptor);
    isOpen = false;
  };
  try {
    writeAllBytesAt(descriptor, Buffer.alloc(reserve), 0);
    ftruncateSync(descriptor, reserve);
    fsyncSync(descriptor);
    requireSameMount(path, created);
    renameOverExistingFile(created, temporary);
    fsyncFolder(dirname(path));
  } catch (error) {
    close();
    for (const left of [created, temporary]) rmSync(left, { force: true });
    if (namedAfter !== path && fileErrorCode(error) === 'ENOENT')
      return prepareSecretFileReplacement(path, reserve, namedAfter);
    throw error;
  }
  let hasText = false;
  return {
    path: temporary,
    commit(text, onStage, mayReplace) {
      try {
        const bytes = Buffer.from(text, 'utf8');
        writeAllBytesAt(descriptor, bytes, 0);
        hasText = true;
        onStage?.('written');
        ftruncateSync(descriptor, bytes.length);
        fsyncSync(descriptor);
        onStage?.('synced');
        if (mayReplace?.() === false) return false;
        renameOverExistingFile(temporary, path);
      } finally {
        close();
      }
      fsyncFolder(dirname(path));
      return true;
    },
    hasText: () => hasText,
    abandon() {
      close();
      rmSync(temporary, { force: true });
    },
  };
}

/**
 * Replaces a file with secrets. The function makes no test before the write, because the text may be the only copy of a grant:
 * it tries every way to store the text. If the file cannot be replaced, a temporary file with the whole text stays, unless
 * `isKept` says that another file contains the text.
 */
export function writeSecretFile(path: string, text: string, isKept = false): void {
  requireReplaceable(path);
  const { descriptor, temporary } = createTemporaryFile(path);
  let hasText = false;
  try {
    writeFileSync(descriptor, text);
    hasText = true;
    syncIfPossible(descriptor);
    renameOverExistingFile(temporary, path);
  } catch (error) {
    if (!hasText || isKept) rmSync(temporary, { force: true });
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

/** Renames a temporary file that contains the whole text to `path`. */
export function renameTemporarySecretFile(temporary: string, path: string, text: string): void {
  requireReplaceable(path);
  const descriptor = openSync(temporary, constants.O_RDWR | noFollow);
  try {
    // Removes the zero bytes after the text: space that was reserved and not used.
    ftruncateSync(descriptor, Buffer.byteLength(text));
    syncIfPossible(descriptor);
    renameOverExistingFile(temporary, path);
  } finally {
    closeSync(descriptor);
  }
  fsyncFolder(dirname(path));
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
}

function requireSecret(path: string, file: FileFacts): void {
  if (!file.isFile())
    throw new InsecureFileError(`${path} is not a regular file`, `move it away: ${formatMoveCommand(path)}`);
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

function requireReplaceable(path: string): void {
  const target = lstatSync(path, { throwIfNoEntry: false });
  if (target?.isSymbolicLink() === true) throw symbolicLinkError(path);
  if (target !== undefined && !target.isFile()) throw new Error(`${path} is not a regular file`);
}

/**
 * A file that is a mount point itself (a container with `-v file:file`) cannot be replaced. The system refuses a hard link
 * between two mounts as it refuses a rename, and a hard link changes no file. Renaming the file to its own name would also show
 * whether it is a mount point, but could overwrite a newer text of another process.
 */
function requireSameMount(path: string, temporary: string): void {
  const probe = temporary.replace(/\.tmp$/, linkEnding);
  try {
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
  rmSync(probe, { force: true });
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
