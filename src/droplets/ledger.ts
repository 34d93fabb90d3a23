import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fdatasync,
  fstatSync,
  lstatSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { CliError, usageError } from '../base/errors.ts';
import { redactData } from '../base/redact.ts';
import { isDiskFull, storageError } from '../base/storage-error.ts';
import { quoteShellArg, showInvisible } from '../base/text.ts';
import { moveCommand, readBytes, reserveFile } from '../platform/files.ts';
import type { Clock, HostSystem } from '../platform/host.ts';
import { type HeldLock, tryAcquire } from '../platform/locks.ts';
import { type Batch, decodeEvent, encodeEvent, type NewEvent, stamp } from './events.ts';
import { type BatchState, createState } from './state.ts';

/** The ledger file of a batch, locked by this process until it is closed. */
export interface Ledger {
  readonly path: string;
  readonly state: BatchState;
  /**
   * Adds the event to the file and to the state. Throws when the event could not be written. A `created` event is written
   * together with the next line, or at the end of this turn of the event loop.
   */
  record(event: NewEvent): void;
  /** Adds the event to the file and to the state, and resolves when the event is synced to the disk. */
  commit(event: NewEvent): Promise<void>;
  /** Writes the delayed events to the ledger file. Throws when the delayed events could not be written. */
  flush(): void;
  close(): Promise<void>;
  /** Deletes the ledger file of a batch for which no request was sent, or of a single droplet that was created. */
  discard(): Promise<void>;
  /**
   * The state of the earlier run with the same `--batch-id`, whose ledger this ledger replaces; undefined without an earlier
   * run.
   */
  readonly replaced?: BatchState | undefined;
  /** `replaced`: created for a batch with `--batch-id`, in place of the ledger of an earlier run on this machine, if any. */
  readonly origin: 'new' | 'resumed' | 'replaced';
}

export function defaultPath(stateFolder: string, batchId: string): string {
  return join(stateFolder, 'batches', `${batchId}.jsonl`);
}

/** The clock gives the time of each event. */
export type Machine = Pick<HostSystem, 'clock'>;

/**
 * Creates a ledger whose first line is synced to the disk. When another run has created one at this path since the caller looked,
 * that one is opened.
 */
export async function createLedgerAt(path: string, batch: Batch, machine: Machine): Promise<Ledger> {
  // Acquiring the lock creates the folder of the ledger.
  const lock = await lockLedger(path, machine.clock);
  if (isResumable(path)) {
    lock.release();
    return openLedger(path, machine);
  }
  try {
    // A symbolic link is not removed, so creating the ledger file fails.
    if (lstatSync(path, { throwIfNoEntry: false })?.isFile() === true) rmSync(path);
    reserveFile(path, encodeEvent(batch), 0).close();
    return openedLedger(path, lock, createState(batch), machine);
  } catch (error) {
    lock.release();
    throw writeError(path, error);
  }
}

/**
 * Creates a new ledger for a batch with `--batch-id`; the ledger of the earlier run is kept until this run has recorded its
 * baseline.
 */
export async function replaceLedger(path: string, batch: Batch, machine: Machine): Promise<Ledger> {
  const lock = await lockLedger(path, machine.clock);
  const previous = previousPath(path);
  try {
    // The ledger of a run that was killed before its baseline contains less than the ledger of the run before it.
    const hasBegun = tryReadState(path)?.baseline() !== undefined;
    if (existsSync(path) && (hasBegun || !existsSync(previous))) renameSync(path, previous);
    rmSync(path, { force: true });
    const replaced = tryReadState(previous);
    reserveFile(path, encodeEvent(batch), 0).close();
    const ledger = openedLedger(path, lock, createState(batch), machine);
    const restore = (): void => {
      if (ledger.state.baseline() === undefined && existsSync(previous)) renameSync(previous, path);
    };
    return {
      ...ledger,
      origin: 'replaced',
      replaced,
      async commit(event) {
        await ledger.commit(event);
        if (event.event === 'baseline') rmSync(previous, { force: true });
      },
      async close() {
        restore();
        await ledger.close();
      },
      async discard() {
        if (!existsSync(previous)) return ledger.discard();
        restore();
        await ledger.close();
      },
    };
  } catch (error) {
    lock.release();
    throw writeError(path, error);
  }
}

function previousPath(path: string): string {
  return `${path}.previous`;
}

/**
 * A run with `--batch-id` that was killed before its baseline was recorded sent no request. The ledger of the earlier run is
 * then restored.
 */
function restorePrevious(path: string, { batch, baseline }: BatchState): boolean {
  if (batch.content_hash === undefined || baseline() !== undefined) return false;
  const previous = previousPath(path);
  if (tryReadState(previous) === undefined) return false;
  renameSync(previous, path);
  return true;
}

/** Opens the ledger that an earlier process wrote. An incomplete last line of the ledger is removed. */
export async function openLedger(named: string, machine: Machine): Promise<Ledger> {
  // The path is made absolute, because the resume command may be run in another folder.
  const path = resolve(named);
  requireReadable(path);
  const isLockNew = !existsSync(lockPathOf(path));
  const lock = await lockLedger(path, machine.clock);
  try {
    // Another process may have deleted the ledger of a finished batch during the wait.
    requireReadable(path);
    const content = readLedger(path);
    const { state, length, size } = restorePrevious(path, content.state) ? readLedger(path) : content;
    // No request depends on an incomplete line, because lines on which a request depends are synced before the request is sent.
    if (length < size) truncateSync(path, length);
    return { ...openedLedger(path, lock, state, machine), origin: 'resumed' };
  } catch (error) {
    // If the file is not a ledger, or was deleted, its new lock file is removed.
    if (isLockNew || !existsSync(path)) rmSync(lockPathOf(path), { force: true });
    lock.release();
    throw writeError(path, error);
  }
}

function requireReadable(path: string): void {
  if (!existsSync(path)) throw missingLedgerError(path);
  try {
    if (!statSync(path).isFile()) throw new Error('the path is not a file');
    accessSync(path, constants.R_OK);
  } catch (error) {
    throw unreadableLedgerError(path, error);
  }
}

/** A batch of a million droplets has a ledger of hundreds of megabytes. Reading a pipe in its place would never end. */
function readLedgerBytes(path: string): Buffer {
  let bytes: Buffer | undefined;
  try {
    bytes = readBytes(path, Number.POSITIVE_INFINITY);
  } catch (error) {
    throw unreadableLedgerError(path, error);
  }
  if (bytes === undefined) throw missingLedgerError(path);
  return bytes;
}

const printedPathHint = 'use the path that the command printed on stderr when it started the batch';

function missingLedgerError(path: string): CliError {
  return usageError(`the ledger does not exist: ${showInvisible(path)}`, printedPathHint);
}

function unreadableLedgerError(path: string, error: unknown): CliError {
  const reason = error instanceof Error ? error.message : String(error);
  return usageError(`could not read the ledger: ${reason}`, printedPathHint, path);
}

function openedLedger(path: string, lock: HeldLock, state: BatchState, { clock }: Machine): Ledger {
  const file = openFile(path);
  let closing: Promise<void> | undefined;
  const record = (added: NewEvent): void => {
    const event = stamp(added, clock);
    // The result of a request is applied to the state even if it could not be written to the file. A request whose `sending`
    // event could not be recorded is not sent.
    if (event.event !== 'sending') state.apply(event);
    file.append(encodeEvent(event), event.event === 'created');
    if (event.event === 'sending') state.apply(event);
  };
  const close = (): Promise<void> => {
    closing ??= file.close().then(() => lock.release());
    return closing;
  };
  return {
    path,
    state,
    origin: 'new',
    record,
    async commit(added) {
      const event = stamp(added, clock);
      if (event.event !== 'sending') state.apply(event);
      file.append(encodeEvent(event), false);
      await file.sync();
      if (event.event === 'sending') state.apply(event);
    },
    flush: file.flush,
    close,
    async discard() {
      rmSync(path, { force: true });
      rmSync(`${path}.lock`, { force: true });
      await close();
    },
  };
}

/** The content of a ledger file. */
interface LedgerContent {
  /** The state of the batch, computed from all complete lines of the file. */
  readonly state: BatchState;
  /** The length of all complete lines in bytes. */
  readonly length: number;
  /** The length of the file in bytes, which is greater when the last line is incomplete. */
  readonly size: number;
}

/** Reads a ledger without acquiring its lock. Throws `config_invalid` for a file that is not a ledger. */
export function readLedger(path: string): LedgerContent {
  const bytes = readLedgerBytes(path);
  const end = bytes.lastIndexOf(0x0a) + 1;
  let state: BatchState | undefined;
  let number = 0;
  for (let from = 0; from < end; ) {
    const to = bytes.indexOf(0x0a, from);
    const event = decodeEvent(bytes.toString('utf8', from, to));
    number += 1;
    from = to + 1;
    if (event === undefined || (event.event === 'batch') !== (number === 1)) throw damagedLedgerError(path, number);
    if (event.event === 'batch') state = createState(event);
    else state?.apply(event);
  }
  if (state === undefined) {
    // An empty file is replaced, an incomplete line never.
    const away = bytes.length === 0 ? '' : `move it away: ${moveCommand(path)}; then `;
    throw new CliError('config_invalid', 'the ledger is empty, or its first line is incomplete: nothing was sent', {
      detail: `${path}:1`,
      hint: `${away}begin the batch with \`cloudctl droplets create --ledger ${quoteShellArg(path)}\` and its names and options`,
    });
  }
  return { state, length: end, size: bytes.length };
}

/** The state of the batch in a ledger; undefined when the file is missing, cannot be read or is damaged. */
export function tryReadState(path: string): BatchState | undefined {
  try {
    return existsSync(path) ? readLedger(path).state : undefined;
  } catch {
    return undefined;
  }
}

function damagedLedgerError(path: string, line: number): CliError {
  return new CliError('config_invalid', `the ledger is damaged: line ${line} is not an event`, {
    detail: `${path}:${line}`,
    hint: 'correct this line of the ledger, or delete it if you know its content',
  });
}

/**
 * Writes the lines of a ledger to its file. After a failed write, every function of the ledger file throws the error of that
 * write.
 */
interface LedgerFile {
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
export function openFile(path: string): LedgerFile {
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
    broken ??= isDiskFull(error) ? fullError(path, error) : writeError(path, error);
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
        broken ??= writeError(path, new Error('the file is closed'));
        clearTimeout(syncTimer);
        closeSync(descriptor);
      });
    return closing;
  };
  return {
    append(line, canWait) {
      const isHeld = canWait && broken === undefined;
      if (isHeld && held === '') setImmediate(endOfTurn);
      held += redactData(line);
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
export function isResumable(path: string): boolean {
  if (!existsSync(path)) return false;
  try {
    const text = readLedgerBytes(path).toString('utf8');
    return text.includes('\n') || !(text === '' || text.startsWith('{"event":"batch"'));
  } catch {
    return true;
  }
}

function writeError(path: string, error: unknown): CliError {
  if (error instanceof CliError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return storageError(`could not write the ledger: ${reason}`, error, {
    detail: path,
    elsewhere: 'use a folder that you can write to: `--ledger FILE`, or CLOUDCTL_STATE_DIR for the state folder',
  });
}

/** Lines of the run are in the file, so another place does not help. */
function fullError(path: string, cause: unknown): CliError {
  const { code, message, detail } = writeError(path, cause);
  return new CliError(code, message, { detail, hint: `free disk space in ${quoteShellArg(dirname(path))}`, cause });
}

function ledgerLostError(path: string): CliError {
  return new CliError('storage', 'the ledger was deleted or replaced during the run', {
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

/**
 * Acquires the lock of a batch, and waits up to 1 s for it, because a listing of the batches holds the lock for a moment.
 * Throws `busy` when another process runs the batch. The lock is a separate file in the folder of the ledger, because on
 * some systems a locked file cannot be read.
 */
async function lockLedger(path: string, clock: Clock): Promise<HeldLock> {
  for (let left = waitMs; ; left -= pauseMs) {
    const name = lockPathOf(path);
    const lock = tryAcquire(name);
    if (lock !== undefined) return lock;
    if (left <= 0) {
      throw new CliError('busy', 'another process runs this batch', {
        detail: `the other process has locked ${name}`,
        hint: 'wait until the other process ends, or end it, and run the command again',
      });
    }
    await clock.sleep(pauseMs);
  }
}

const waitMs = 1000;
const pauseMs = 50;

/** The lock path is the same for every symbolic link to the ledger. */
export function lockPathOf(path: string): string {
  return `${existsSync(path) ? realpathSync(path) : path}.lock`;
}
