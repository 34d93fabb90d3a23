import { closeSync, fsyncSync, openSync, readFileSync, statSync } from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** What a journal contains: text lines, each of which was synced to the disk before anybody was told about it. */
export interface JournalContent {
  /** The complete lines, the first one has number 1. */
  readonly lines: readonly string[];
  /** The number of bytes after the complete lines, from a line whose write a crash interrupted. */
  readonly tornBytes: number;
}

/**
 * Reads the file; undefined when there is none. Each line is synced before the next one is written, so a crash can leave only
 * the last one incomplete: without its newline, or with zero bytes where a block of the disk was not written.
 */
export function readJournal(path: string): JournalContent | undefined {
  const bytes = readFileIfExists(path);
  if (bytes === undefined) return undefined;
  let end = bytes.lastIndexOf('\n') + 1;
  const last = end === 0 ? 0 : bytes.subarray(0, end - 1).lastIndexOf('\n') + 1;
  if (end === bytes.length && bytes.subarray(last).includes(0)) end = last;
  const lines = bytes.toString('utf8', 0, end).split('\n').slice(0, -1);
  return { lines, tornBytes: bytes.length - end };
}

/** The name of the file that becomes the journal when it is complete. */
export function temporaryName(path: string): string {
  return `.${basename(path)}.tmp`;
}

/** A file of lines. No method may be called while another one runs, nor after one has failed. */
export class Journal {
  readonly #path: string;
  #file: FileHandle | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /**
   * Replaces the file. Resolves when the new content is synced to the disk; a crash before leaves the old content. Must be
   * called before the first `append`.
   */
  async rewrite(lines: Iterable<string>): Promise<void> {
    const text = `${[...lines].join('\n')}\n`;
    const temporary = join(dirname(this.#path), temporaryName(this.#path));
    // What is in this place is left over, or a pipe whose opening would never end.
    await rm(temporary, { force: true });
    const file = await open(temporary, 'wx', 0o600);
    const old = this.#file;
    this.#file = file;
    await old?.close();
    await file.appendFile(text);
    await file.sync();
    await rename(temporary, this.#path);
    syncFolder(dirname(this.#path));
  }

  /** Resolves when the line is synced to the disk. */
  async append(line: string): Promise<void> {
    if (this.#file === undefined) throw new Error('the journal is not open');
    await this.#file.appendFile(`${line}\n`);
    await this.#file.datasync();
  }

  async close(): Promise<void> {
    await this.#file?.close();
    this.#file = undefined;
  }
}

function readFileIfExists(path: string): Buffer | undefined {
  try {
    // A pipe in this place would never end.
    if (!statSync(path).isFile()) throw new Error(`${path} is not a regular file`);
    return readFileSync(path);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
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

/** The error for a state folder that cannot be used. */
export class SandboxStateFolderError extends Error {
  override readonly name = 'StateError';
  readonly reason: 'unusable' | 'busy' | 'damaged';
  /** The location of the error, for example a path and a line. */
  readonly detail: string | undefined;
  readonly hint: string | undefined;

  constructor(
    reason: SandboxStateFolderError['reason'],
    message: string,
    parts: { detail?: string; hint?: string } = {},
  ) {
    super(message);
    this.reason = reason;
    this.detail = parts.detail;
    this.hint = parts.hint;
  }
}

/** The line number starts at 1. */
export function damagedState(path: string, line: number, problem: string): SandboxStateFolderError {
  return new SandboxStateFolderError('damaged', 'the sandbox state is damaged', {
    detail: `${path}, line ${line}: ${problem}`,
    hint: 'restore the folder from a backup, or name another folder with `--state`',
  });
}
