import { accessSync, constants, existsSync, readFileSync, realpathSync, rmSync, statSync, truncateSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { CliError, usageError } from '../errors.ts';
import { type HeldLock, tryAcquireLock } from '../platform/file-lock.ts';
import { createPreallocatedFile } from '../platform/files.ts';
import { type BatchState, createBatchState } from './batch-state.ts';
import {
  type BatchEvent,
  decodeLedgerEvent,
  encodeLedgerEvent,
  type LedgerEvent,
  type SendingEvent,
} from './ledger-event.ts';
import { ledgerWriteError, openLedgerFile } from './ledger-file.ts';

/** The file of a batch, held by this process alone until it is closed. */
export interface Ledger {
  readonly path: string;
  readonly state: BatchState;
  /**
   * This start of the machine, if all that is written to the ledger is there until the next one, whatever becomes of this
   * process; undefined where that is not sure. Only then groups can be announced.
   */
  readonly bootId: string | undefined;
  /**
   * Adds the event to file and roster; throws when it could not be written. What was created goes with the next line, or else
   * at the end of this turn of the event loop.
   */
  record(event: LedgerEvent): void;
  /** The same; it is on the disk when this resolves. */
  commit(event: LedgerEvent): Promise<void>;
  /** Writes what was not yet written; throws when it could not be. */
  flush(): void;
  close(): Promise<void>;
  /** Removes it: nothing was sent, and nothing is to be resumed. */
  discard(): Promise<void>;
}

export function ledgerPath(stateFolder: string, batchId: string): string {
  return join(stateFolder, 'batches', `${batchId}.jsonl`);
}

/** The start of the machine that a folder's files last until, as the host has it. */
type ReadBootId = (folder: string) => Promise<string | undefined>;

/** A new ledger with its first line on the disk. */
export async function createLedger(path: string, batch: BatchEvent, bootOf: ReadBootId): Promise<Ledger> {
  // It makes the folder as well.
  const lock = acquireLedgerLock(path);
  try {
    createPreallocatedFile(path, encodeLedgerEvent(batch), 0).close();
    return await openedLedger(path, lock, createBatchState(batch), bootOf);
  } catch (error) {
    lock.release();
    throw ledgerWriteError(path, error);
  }
}

/** The ledger as an earlier process left it; its last line, if it was torn, is cut off. */
export async function openLedger(named: string, bootOf: ReadBootId): Promise<Ledger> {
  // The command that goes on with it may be given in another folder.
  const path = resolve(named);
  requireReadable(path);
  const isLockNew = !existsSync(ledgerLockPath(path));
  const lock = acquireLedgerLock(path);
  try {
    const roster = readLedger(path);
    const ledger = await openedLedger(path, lock, roster, bootOf);
    const sendings = possiblySentEvents(roster, ledger.bootId);
    for (const sending of sendings.slice(0, -1)) ledger.record(sending);
    for (const last of sendings.slice(-1)) await ledger.commit(last);
    return ledger;
  } catch (error) {
    // It may be no ledger at all, and then nothing of ours belongs beside it.
    if (isLockNew) rmSync(ledgerLockPath(path), { force: true });
    lock.release();
    throw ledgerWriteError(path, error);
  }
}

/** Of the groups that were announced those that may have been sent, because the line that would tell it can be lost. */
export function possiblySentEvents(roster: BatchState, boot: string | undefined): readonly SendingEvent[] {
  return roster.announced().flatMap((one) => (one.boot === boot ? [] : [one.sending]));
}

/** The roster of a ledger's whole lines. */
function readLedger(path: string): BatchState {
  const bytes = readFileSync(path);
  const end = bytes.lastIndexOf(0x0a) + 1;
  let roster: BatchState | undefined;
  let number = 0;
  for (let from = 0; from < end; ) {
    const to = bytes.indexOf(0x0a, from);
    const event = decodeLedgerEvent(bytes.toString('utf8', from, to));
    number += 1;
    from = to + 1;
    if (event === undefined || (event.event === 'batch') !== (number === 1)) throw damagedLedgerError(path, number);
    if (event.event === 'batch') roster = createBatchState(event);
    else roster?.apply(event);
  }
  if (roster === undefined) throw damagedLedgerError(path, 1);
  // A line without its end was never relied upon: what must be on the disk before a request leaves is there whole.
  if (end < bytes.length) truncateSync(path, end);
  return roster;
}

function requireReadable(path: string): void {
  const hint = 'the command that began the batch printed its path first, on stderr';
  if (!existsSync(path)) throw usageError(`there is no ledger ${path}`, hint);
  try {
    // Reading a pipe would wait for whoever writes.
    if (!statSync(path).isFile()) throw new Error('it is no file');
    accessSync(path, constants.R_OK);
  } catch (error) {
    throw usageError(
      `could not read the ledger: ${error instanceof Error ? error.message : String(error)}`,
      hint,
      path,
    );
  }
}

async function openedLedger(path: string, lock: HeldLock, roster: BatchState, bootOf: ReadBootId): Promise<Ledger> {
  const boot = await bootOf(dirname(realpathSync(path)));
  const file = openLedgerFile(path);
  let closing: Promise<void> | undefined;
  const record = (event: LedgerEvent): void => {
    // What became of a request is true, written or not; one that could not be announced is never sent.
    if (event.event !== 'sending') roster.apply(event);
    file.append(encodeLedgerEvent(event), event.event === 'created');
    if (event.event === 'sending') roster.apply(event);
  };
  const close = (): Promise<void> => {
    closing ??= file.close().then(() => lock.release());
    return closing;
  };
  return {
    path,
    state: roster,
    bootId: boot,
    record,
    async commit(event) {
      if (event.event !== 'sending') roster.apply(event);
      file.append(encodeLedgerEvent(event), false);
      await file.sync();
      if (event.event === 'sending') roster.apply(event);
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

/** Beside the ledger, for a lock on the file itself would keep it from being read on some systems. */
function acquireLedgerLock(path: string): HeldLock {
  const name = ledgerLockPath(path);
  const lock = tryAcquireLock(name);
  if (lock !== undefined) return lock;
  throw new CliError('busy', 'another cloudctl is at work on this batch', {
    detail: `it holds the lock ${name}`,
    hint: 'wait for it to end, or end it, and run the command again',
  });
}

/** Under one name, whatever link it was found by. */
function ledgerLockPath(path: string): string {
  return `${existsSync(path) ? realpathSync(path) : path}.lock`;
}

function damagedLedgerError(path: string, line: number): CliError {
  return new CliError('config_invalid', `ledger is damaged: line ${line} is no event of a batch`, {
    detail: `${path}:${line}`,
    hint: 'mend that line, or remove it if you know what it said',
  });
}
