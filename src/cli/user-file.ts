import { closeSync, openSync, readSync } from 'node:fs';
import { type CliError, usageError } from '../base/errors.ts';
import { showInvisible } from '../base/text.ts';
import { fileErrorCode } from '../platform/files.ts';
import type { HostSystem } from '../platform/host.ts';

/** Where a command reads its input, and how it tells the user that the input was changed. */
export interface UserInput extends Pick<HostSystem, 'stdin'> {
  /** Prints a notice on stderr. */
  readonly note?: ((text: string) => Promise<void>) | undefined;
}

interface InputDescription {
  /** The subject of messages, such as "the user data in cloud.yaml". */
  readonly what: string;
  /** The error of a file that cannot be read. @param reason the message of the system */
  readonly readError: (reason: string) => CliError;
  /** The largest size in bytes; a device without an end is read only so far. */
  readonly maxBytes?: { readonly bytes: number; readonly hint: string } | undefined;
}

/**
 * Reads a file that a user names, or standard input for `-`, as UTF-8. A byte order mark is removed with a notice, because the
 * programs that get the text ignore it then (cloud-init) or refuse it. Windows PowerShell writes redirected output as UTF-16.
 */
export async function readInput(input: UserInput, named: string, description: InputDescription): Promise<Buffer> {
  const { what, readError, maxBytes } = description;
  const most = maxBytes === undefined ? Number.POSITIVE_INFINITY : maxBytes.bytes;
  const bytes = named === '-' ? await readStream(input.stdin, most) : readFile(named, most, readError);
  if (bytes.length > most) throw usageError(`${what} has more than ${most} bytes`, maxBytes?.hint);
  const { content, change } = withoutMark(bytes);
  if (change !== undefined) await input.note?.(`${change} ${what}.`);
  return content;
}

/**
 * Reads a file that was named on the command line, without a byte order mark; returns undefined when the file does not exist.
 * Throws a usage error when the file cannot be read.
 */
export function readUserFile(path: string): string | undefined {
  try {
    return withoutMark(readAnyFile(path, Number.POSITIVE_INFINITY)).content.toString('utf8');
  } catch (error) {
    if (fileErrorCode(error) === 'ENOENT') return undefined;
    throw usageError(
      `could not read ${path}: ${error instanceof Error ? error.message : String(error)}`,
      'pass a file that you have permission to read',
    );
  }
}

function withoutMark(bytes: Buffer): { readonly content: Buffer; readonly change?: string } {
  if (bytes[0] === 0xff && bytes[1] === 0xfe)
    return { content: Buffer.from(bytes.toString('utf16le', 2), 'utf8'), change: 'Converted from UTF-16 to UTF-8:' };
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf)
    return { content: bytes.subarray(3), change: 'Removed the byte order mark at the start of' };
  return { content: bytes };
}

function readFile(file: string, most: number, readError: (reason: string) => CliError): Buffer {
  try {
    return readAnyFile(file, most);
  } catch (error) {
    throw readError(showInvisible(error instanceof Error ? error.message : String(error)));
  }
}

/** Reads a file up to a little more than `most` bytes. A user may also name a pipe, such as `<(command)` of a shell, whose end is awaited. */
export function readAnyFile(file: string, most: number): Buffer {
  const descriptor = openSync(file, 'r');
  try {
    const chunks: Buffer[] = [];
    for (let length = 0; length <= most; ) {
      const chunk = Buffer.alloc(chunkBytes);
      const read = readSync(descriptor, chunk, 0, chunkBytes, null);
      if (read === 0) break;
      chunks.push(chunk.subarray(0, read));
      length += read;
    }
    return Buffer.concat(chunks);
  } finally {
    closeSync(descriptor);
  }
}

const chunkBytes = 64 * 1024;

async function readStream(stream: AsyncIterable<unknown>, most: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream) {
    const bytes = Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk), 'utf8');
    chunks.push(bytes);
    length += bytes.length;
    if (length > most) break;
  }
  return Buffer.concat(chunks);
}
