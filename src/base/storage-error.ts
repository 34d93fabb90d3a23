import { CliError } from './errors.ts';

/** Errors of a file system that is full, read-only, forbidden or broken, or in which a file has the place of a folder. */
const storageCodes: ReadonlySet<unknown> = new Set([
  ...['ENOSPC', 'EDQUOT', 'EFBIG', 'EROFS', 'EACCES', 'EPERM', 'EIO'],
  ...['ENOTDIR', 'ELOOP', 'ENAMETOOLONG'],
]);

interface StorageErrorParts {
  readonly detail?: string | undefined;
  /** The action that uses another place, such as "set CLOUDCTL_STATE_DIR to a folder that you can write to". */
  readonly elsewhere: string;
}

/** The error when a file of the program cannot be written. On a full disk, freeing space helps; otherwise another place does. */
export function storageError(message: string, cause: unknown, { detail, elsewhere }: StorageErrorParts): CliError {
  // Without a home folder nothing was tried.
  if (cause instanceof CliError) return cause;
  const isFull = isDiskFull(cause);
  return new CliError('storage', message, {
    detail,
    hint: isFull ? `free disk space, or ${elsewhere}` : elsewhere,
    cause,
  });
}

export function isDiskFull(error: unknown): boolean {
  const code = codeOf(error);
  return code === 'ENOSPC' || code === 'EDQUOT' || code === 'EFBIG';
}

/** Whether an operation on a file failed because of the file system. Errors of processes and sockets have the same codes. */
export function isStorageFault(error: unknown): boolean {
  const syscall = error instanceof Error && 'syscall' in error ? String(error.syscall) : '';
  return storageCodes.has(codeOf(error)) && fileOperations.test(syscall);
}

const fileOperations =
  /^(?:open|mkdir|mkdtemp|write|read|rename|fsync|fdatasync|ftruncate|unlink|rm|rmdir|scandir|l?stat|fstat|readlink|realpath|link|symlink|copyfile|f?chmod|access|close)$/;

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
