import { closeSync, fdatasync, openSync, writeSync } from 'node:fs';
import { CliError } from '../errors.ts';

/** The lines of a ledger on their way to the disk. Once a line could not be written, each of these throws what it was told. */
export interface LedgerFile {
  /**
   * Adds a line. One that can wait goes with the next one, or else at the end of this turn of the event loop: nobody could tell
   * the difference, and it halves the writes.
   */
  append(line: string, canWait: boolean): void;
  /** Hands what was held back to the system. */
  flush(): void;
  /** Resolves when all that was handed to the system is on the disk. */
  sync(): Promise<void>;
  /** Writes and syncs what can be; resolves when nothing more is to come. */
  close(): Promise<void>;
}

/** Milliseconds after which a line that nobody waits for is on its way to the disk: what a disk that is torn off can lose. */
const syncDelayMs = 20;

/** At the end of a file that exists. */
export function openLedgerFile(path: string): LedgerFile {
  const descriptor = openSync(path, 'a', 0o600);
  const sync = coalesce(
    () => new Promise<void>((done, fail) => fdatasync(descriptor, (error) => (error ? fail(error) : done()))),
  );
  let broken: CliError | undefined;
  let closing: Promise<void> | undefined;
  /** Lines that go with the next one. */
  let held = '';
  let soon: NodeJS.Timeout | undefined;

  const fail = (error: unknown): never => {
    // After half a line nothing more may follow it.
    broken ??= ledgerWriteError(path, error);
    throw broken;
  };
  const syncSoon = (): void => {
    soon = undefined;
    // Whoever writes next hears of it.
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
    soon ??= setTimeout(syncSoon, syncDelayMs);
  };
  const endOfTurn = (): void => {
    try {
      flush();
    } catch {
      // Whoever writes next, or flushes, hears of it.
    }
  };
  const close = (): Promise<void> => {
    closing ??= Promise.resolve()
      .then(flush)
      .then(sync)
      .catch(() => {})
      .then(() => {
        broken ??= ledgerWriteError(path, new Error('it is closed'));
        clearTimeout(soon);
        closeSync(descriptor);
      });
    return closing;
  };
  return {
    append(line, canWait) {
      const waits = canWait && broken === undefined;
      if (waits && held === '') setImmediate(endOfTurn);
      held += line;
      if (!waits) flush();
    },
    flush,
    async sync() {
      if (broken !== undefined) throw broken;
      await sync().catch(fail);
    },
    close,
  };
}

export function ledgerWriteError(path: string, error: unknown): CliError {
  if (error instanceof CliError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new CliError('internal', `could not write the ledger: ${reason}`, {
    detail: path,
    hint: 'make room, or set CLOUDCTL_STATE_DIR to another folder',
    cause: error,
  });
}

/** Those who come while it runs share the next run, since that one began before what they wait for. */
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
