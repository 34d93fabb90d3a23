import {
  accessSync,
  constants,
  existsSync,
  lstatSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { CliError, usageError } from '../../errors.ts';
import { type HeldLock, tryAcquireLock } from '../../platform/file-lock.ts';
import { createPreallocatedFile } from '../../platform/files.ts';
import { type BatchState, createBatchState } from './batch-state.ts';
import { type BatchEvent, encodeLedgerEvent, type LedgerEvent, type SendingEvent } from './ledger-event.ts';
import { isLedgerStarted, ledgerWriteError, openLedgerFile } from './ledger-file.ts';
import { readLedger, readLedgerIfValid } from './read-ledger.ts';

/** The ledger file of a batch, locked by this process until it is closed. */
export interface Ledger {
  readonly path: string;
  readonly state: BatchState;
  /**
   * Boot id of the machine, if what is written to the file survives this process until the next boot; otherwise undefined.
   * Groups are announced only with a boot id.
   */
  readonly bootId: string | undefined;
  /**
   * Adds the event to the file and the state. Throws when it could not be written. A `created` event is written with the next
   * line, or at the end of this turn of the event loop.
   */
  record(event: LedgerEvent): void;
  /** Like `record`, and resolves when the event is synced to the disk. */
  commit(event: LedgerEvent): Promise<void>;
  /** Writes events that were held back. Throws when they could not be written. */
  flush(): void;
  close(): Promise<void>;
  /** Deletes the file: of a batch of which nothing was sent, or of a single droplet that was created. */
  discard(): Promise<void>;
  /** The state that a replaced ledger of the same `--batch-id` had. */
  readonly replaced?: BatchState | undefined;
}

export function ledgerPath(stateFolder: string, batchId: string): string {
  return join(stateFolder, 'batches', `${batchId}.jsonl`);
}

/** The boot id for a folder whose files survive the process. */
type ReadBootId = (folder: string) => Promise<string | undefined>;

/** Creates a ledger, with its first line synced to the disk. */
export async function createLedger(path: string, batch: BatchEvent, bootOf: ReadBootId): Promise<Ledger> {
  // Taking the lock creates the folder.
  const lock = acquireLedgerLock(path);
  try {
    // A symbolic link stays, and the file cannot be created.
    if (!isLedgerStarted(path) && lstatSync(path, { throwIfNoEntry: false })?.isFile() === true) rmSync(path);
    createPreallocatedFile(path, encodeLedgerEvent(batch), 0).close();
    return await openedLedger(path, lock, createBatchState(batch), bootOf);
  } catch (error) {
    lock.release();
    throw ledgerWriteError(path, error);
  }
}

/**
 * Creates the ledger of a batch with `--batch-id` in the place of the one of an earlier run, which stays until this run has
 * recorded its baseline.
 */
export async function replaceLedger(path: string, batch: BatchEvent, bootOf: ReadBootId): Promise<Ledger> {
  const lock = acquireLedgerLock(path);
  const previous = previousPath(path);
  try {
    // A run that was killed before its baseline knows less than the one before it.
    const hasBegun = readLedgerIfValid(path)?.baseline() !== undefined;
    if (existsSync(path) && (hasBegun || !existsSync(previous))) renameSync(path, previous);
    rmSync(path, { force: true });
    const replaced = readLedgerIfValid(previous);
    createPreallocatedFile(path, encodeLedgerEvent(batch), 0).close();
    const ledger = await openedLedger(path, lock, createBatchState(batch), bootOf);
    const restore = (): void => {
      if (ledger.state.baseline() === undefined && existsSync(previous)) renameSync(previous, path);
    };
    return {
      ...ledger,
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
    throw ledgerWriteError(path, error);
  }
}

function previousPath(path: string): string {
  return `${path}.previous`;
}

/** A run with `--batch-id` that was killed before its baseline sent nothing, and left the ledger of the run before it. */
function restorePrevious(path: string, { batch, baseline }: BatchState): boolean {
  if (batch.content_hash === undefined || baseline() !== undefined) return false;
  const previous = previousPath(path);
  if (readLedgerIfValid(previous) === undefined) return false;
  renameSync(previous, path);
  return true;
}

/** Opens the ledger of an earlier process. An incomplete last line is removed. */
export async function openLedger(named: string, bootOf: ReadBootId): Promise<Ledger> {
  // The resume command may run in another folder.
  const path = resolve(named);
  requireReadable(path);
  const isLockNew = !existsSync(ledgerLockPath(path));
  const lock = acquireLedgerLock(path);
  try {
    const content = readLedger(path);
    const { state, length, size } = restorePrevious(path, content.state) ? readLedger(path) : content;
    // No request depends on an incomplete line: lines that a request depends on are synced before it is sent.
    if (length < size) truncateSync(path, length);
    const ledger = await openedLedger(path, lock, state, bootOf);
    const sendings = possiblySentRequestGroups(state, ledger.bootId);
    for (const sending of sendings.slice(0, -1)) ledger.record(sending);
    for (const last of sendings.slice(-1)) await ledger.commit(last);
    return ledger;
  } catch (error) {
    // The file may not be a ledger; then no lock file stays beside it.
    if (isLockNew) rmSync(ledgerLockPath(path), { force: true });
    lock.release();
    throw ledgerWriteError(path, error);
  }
}

/** Announced groups that may have been sent: after a reboot their `sending` lines can be lost. */
export function possiblySentRequestGroups(state: BatchState, boot: string | undefined): readonly SendingEvent[] {
  return state.announced().flatMap((one) => (one.boot === boot ? [] : [one.sending]));
}

function requireReadable(path: string): void {
  const hint = 'use the path that the command printed on stderr when it started the batch';
  if (!existsSync(path)) throw usageError(`the ledger does not exist: ${path}`, hint);
  try {
    // Reading a pipe would wait for a writer.
    if (!statSync(path).isFile()) throw new Error('it is not a file');
    accessSync(path, constants.R_OK);
  } catch (error) {
    throw usageError(
      `could not read the ledger: ${error instanceof Error ? error.message : String(error)}`,
      hint,
      path,
    );
  }
}

async function openedLedger(path: string, lock: HeldLock, state: BatchState, bootOf: ReadBootId): Promise<Ledger> {
  const boot = await bootOf(dirname(realpathSync(path)));
  const file = openLedgerFile(path);
  let closing: Promise<void> | undefined;
  const record = (event: LedgerEvent): void => {
    // The result of a request counts even if it could not be written. A request that could not be recorded is not sent.
    if (event.event !== 'sending') state.apply(event);
    file.append(encodeLedgerEvent(event), event.event === 'created');
    if (event.event === 'sending') state.apply(event);
  };
  const close = (): Promise<void> => {
    closing ??= file.close().then(() => lock.release());
    return closing;
  };
  return {
    path,
    state: state,
    bootId: boot,
    record,
    async commit(event) {
      if (event.event !== 'sending') state.apply(event);
      file.append(encodeLedgerEvent(event), false);
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

/** A lock file beside the ledger: on some systems a locked file cannot be read. */
function acquireLedgerLock(path: string): HeldLock {
  const name = ledgerLockPath(path);
  const lock = tryAcquireLock(name);
  if (lock !== undefined) return lock;
  throw new CliError('busy', 'another process runs this batch', {
    detail: `it holds the lock ${name}`,
    hint: 'wait until it ends, or end it, and run the command again',
  });
}

/** The same path for every symbolic link to the ledger. */
export function ledgerLockPath(path: string): string {
  return `${existsSync(path) ? realpathSync(path) : path}.lock`;
}
