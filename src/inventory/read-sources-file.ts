import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { type CliError, usageError } from '../base/errors.ts';
import type { HostSystem } from '../platform/host.ts';

export interface SourcesFileContent {
  readonly bytes: Uint8Array;
  /** Why a password in a URL of the file is refused; undefined if it is permitted. */
  readonly passwordRefusal: string | undefined;
  /** Why a password command in the file is refused; undefined if it is permitted. */
  readonly commandRefusal: string | undefined;
}

/** Maximum size of an inventory file in bytes. */
const maxInventoryBytes = 32 * 1024 * 1024;

/** Reads the file, or standard input for `-`. Throws a CliError (usage). */
export async function readSourcesFile(path: string, host: HostSystem): Promise<SourcesFileContent> {
  return path === '-' ? readStandardInput(host) : readFile(path, host.platform);
}

async function readStandardInput({ stdin }: HostSystem): Promise<SourcesFileContent> {
  if (stdin.isTTY === true)
    throw usageError(
      'standard input is a terminal',
      'pipe the list of sources, as in `cloudctl db inventory - < sources.txt`',
    );
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stdin) {
    const bytes = Buffer.from(chunk);
    length += bytes.length;
    if (length > maxInventoryBytes) throw tooLarge('standard input');
    chunks.push(bytes);
  }
  return {
    bytes: Buffer.concat(chunks),
    passwordRefusal: undefined,
    // It is unknown who wrote to standard input, and a password command would run with the permissions of this user.
    commandRefusal: 'password_command is read only from a file, not from standard input',
  };
}

function readFile(path: string, platform: NodeJS.Platform): SourcesFileContent {
  let descriptor: number | undefined;
  try {
    // Without O_NONBLOCK the program would wait for a writer of a named pipe.
    descriptor = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const found = fstatSync(descriptor);
    if (!found.isFile()) throw usageError(`could not read ${path}: it is not a regular file`, useFile);
    if (found.size > maxInventoryBytes) throw tooLarge(path);
    const isWindows = platform === 'win32';
    const isOwn = isWindows || found.uid === process.getuid?.() || found.uid === 0;
    return {
      bytes: readFileSync(descriptor),
      passwordRefusal:
        isWindows || (found.mode & 0o077) === 0
          ? undefined
          : 'the URL has a password, and other users can access the file (chmod 600)',
      commandRefusal:
        isOwn && (isWindows || (found.mode & 0o022) === 0)
          ? undefined
          : 'password_command is used only if no other user can write the file (chmod go-w)',
    };
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && 'syscall' in error)) throw error;
    throw usageError(`could not read ${path}: ${error.message}`, useFile);
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

const useFile = 'give a file that you have permission to read, or `-` for standard input';

function tooLarge(what: string): CliError {
  return usageError(`${what} is larger than ${maxInventoryBytes / 1024 / 1024} MiB`, 'split the list of sources');
}
