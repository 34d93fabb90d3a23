import { closeSync, existsSync, fdatasync, fstatSync, openSync, readFileSync, statSync, writeSync } from 'node:fs';
import { CliError } from '../../errors.ts';

/**
 * Writes the lines of a ledger to its file. After a failed write, every function of the ledger file throws the error of that
 * write.
 */
export interface BatchLedgerFile {
  /**
   * Appends a line. A line that can wait is written together with the next one, or at the end of this turn of the event loop,
   * which halves the number of writes.
   */
  append(line: string, canWait: boolean): void;
  /** Writes the delayed lines of the ledger. Throws also when the ledger file was deleted or replaced. */
  flush(): void;
  /** Resolves when all written lines are synced to the disk. Rejects also when the ledger file was deleted or replaced. */
  sync(): Promise<void>;
  /** Writes and syncs the remaining lines as far as possible, and closes the file. */
  close(): Promise<void>;
}

/** Milliseconds after which a written line is synced if no caller waits for it; a power failure can lose the lines of this period. */
const syncDelayMs = 20;

/** Opens an existing ledger file for appending. */
export function openBatchLedgerFile(path: string): BatchLedgerFile {
  const descriptor = openSync(path, 'a', 0o600);
  const opened = fstatSync(descriptor, { bigint: true });
  const sync = coalesce(
    () => new Promise<void>((done, fail) => fdatasync(descriptor, (error) => (error ? fail(error) : done()))),
  );
  let broken: CliError | undefined;
  let closing: Promise<void> | undefined;
  /** Lines that will be written together with the next one. */
  let held = '';
  let syncTimer: NodeJS.Timeout | undefined;

  const fail = (error: unknown): never => {
    // The failed write may have written a part of a line, so no further line is written to the ledger.
    broken ??= batchLedgerWriteError(path, error);
    throw broken;
  };
  // The run that resumes the batch could not read lines that are written to a deleted file.
  const requireSameFile = (): void => {
    const found = statSync(path, { bigint: true, throwIfNoEntry: false });
    if (found?.ino !== opened.ino || found.dev !== opened.dev) fail(ledgerLostError(path));
  };
  const syncSoon = (): void => {
    syncTimer = undefined;
    // The error of a sync without a waiting caller is thrown by the next write.
    sync()
      .catch(fail)
      .catch(() => {});
  };
  const flush = (): void => {
    if (broken !== undefined) throw broken;
    const text = held;
    held = '';
    try {
      if (text !== '') writeAll(descriptor, text);
    } catch (error) {
      fail(error);
    }
    syncTimer ??= setTimeout(syncSoon, syncDelayMs);
  };
  const endOfTurn = (): void => {
    try {
      flush();
    } catch {
      // The next write or flush of the ledger reports the error.
    }
  };
  const close = (): Promise<void> => {
    closing ??= Promise.resolve()
      .then(flush)
      .then(sync)
      .catch(() => {})
      .then(() => {
        broken ??= batchLedgerWriteError(path, new Error('the file is closed'));
        clearTimeout(syncTimer);
        closeSync(descriptor);
      });
    return closing;
  };
  return {
    append(line, canWait) {
      const isHeld = canWait && broken === undefined;
      if (isHeld && held === '') setImmediate(endOfTurn);
      held += line;
      if (isHeld) return;
      flush();
      requireSameFile();
    },
    flush() {
      flush();
      requireSameFile();
    },
    async sync() {
      if (broken !== undefined) throw broken;
      requireSameFile();
      await sync().catch(fail);
    },
    close,
  };
}

/**
 * Whether the file is a ledger that can be resumed. Without a complete first line no request was sent, so a new ledger may
 * replace an empty file or a file with a part of the first line. For any other file, opening it as a ledger reports the error.
 */
export function isResumableBatchLedger(path: string): boolean {
  if (!existsSync(path)) return false;
  try {
    if (!statSync(path).isFile()) return true;
    const text = readFileSync(path, 'utf8');
    return text.includes('\n') || !(text === '' || text.startsWith('{"event":"batch"'));
  } catch {
    return true;
  }
}

export function batchLedgerWriteError(path: string, error: unknown): CliError {
  if (error instanceof CliError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new CliError('internal', `could not write the ledger: ${reason}`, {
    detail: path,
    hint: 'free disk space, or set CLOUDCTL_STATE_DIR to another folder',
    cause: error,
  });
}

function ledgerLostError(path: string): CliError {
  return new CliError('internal', 'the ledger was deleted or replaced during the run', {
    detail: path,
    hint: 'check the names with `cloudctl droplets list`',
  });
}

/** Calls during a run of `work` wait for the next run, because the current run may have started before their data was written. */
function coalesce(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> = Promise.resolve();
  let next: Promise<void> | undefined;
  return () => {
    next ??= running
      .catch(() => {})
      .then(() => {
        next = undefined;
        running = work();
        return running;
      });
    return next;
  };
}

function writeAll(descriptor: number, text: string): void {
  const written = writeSync(descriptor, text);
  if (written === Buffer.byteLength(text)) return;
  const bytes = Buffer.from(text, 'utf8');
  for (let done = written; done < bytes.length; ) done += writeSync(descriptor, bytes, done);
}
