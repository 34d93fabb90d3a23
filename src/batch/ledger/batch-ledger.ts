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
import { usageError } from '../../errors.ts';
import { systemClock } from '../../platform/clock.ts';
import type { HeldFileLock } from '../../platform/file-lock.ts';
import { createFileWithReservedSpace } from '../../platform/files.ts';
import {
  type BatchDescriptionLedgerEvent,
  type BatchLedgerEvent,
  encodeBatchLedgerEvent,
  type RequestGroupSendingLedgerEvent,
} from './batch-ledger-event.ts';
import { batchLedgerWriteError, isResumableBatchLedger, openBatchLedgerFile } from './batch-ledger-file.ts';
import { acquireBatchLedgerLock, buildBatchLedgerLockPath } from './batch-ledger-lock.ts';
import { type BatchLedgerState, createBatchLedgerState } from './batch-ledger-state.ts';
import { readBatchLedger, readBatchStateIfLedgerValid } from './read-batch-ledger.ts';

/** The ledger file of a batch, locked by this process until it is closed. */
export interface BatchLedger {
  readonly path: string;
  readonly state: BatchLedgerState;
  /**
   * The boot id of the machine; undefined if a written line of the ledger file could be lost when this process crashes.
   * Groups of names are announced in the ledger only if the boot id is known.
   */
  readonly bootId: string | undefined;
  /**
   * Adds the event to the file and to the state. Throws when the event could not be written. A `created` event is written
   * together with the next line, or at the end of this turn of the event loop.
   */
  record(event: BatchLedgerEvent): void;
  /** Adds the event to the file and to the state, and resolves when the event is synced to the disk. */
  commit(event: BatchLedgerEvent): Promise<void>;
  /** Writes the delayed events to the ledger file. Throws when the delayed events could not be written. */
  flush(): void;
  close(): Promise<void>;
  /** Deletes the ledger file of a batch for which no request was sent, or of a single droplet that was created. */
  discard(): Promise<void>;
  /**
   * The state of the earlier run with the same `--batch-id`, whose ledger this ledger replaces; undefined without an earlier
   * run.
   */
  readonly replaced?: BatchLedgerState | undefined;
}

export function buildBatchLedgerPath(stateFolder: string, batchId: string): string {
  return join(stateFolder, 'batches', `${batchId}.jsonl`);
}

/** Reads the boot id for a folder whose files survive a crash of the process. */
type ReadBootId = (folder: string) => Promise<string | undefined>;

/** Creates a ledger whose first line is synced to the disk. */
export async function createBatchLedgerAtPath(
  path: string,
  batch: BatchDescriptionLedgerEvent,
  bootOf: ReadBootId,
  clock = systemClock,
): Promise<BatchLedger> {
  // Acquiring the lock creates the folder of the ledger.
  const lock = await acquireBatchLedgerLock(path, clock);
  try {
    // A symbolic link is not removed, so creating the ledger file fails.
    if (!isResumableBatchLedger(path) && lstatSync(path, { throwIfNoEntry: false })?.isFile() === true) rmSync(path);
    createFileWithReservedSpace(path, encodeBatchLedgerEvent(batch), 0).close();
    return await openedLedger(path, lock, createBatchLedgerState(batch), bootOf);
  } catch (error) {
    lock.release();
    throw batchLedgerWriteError(path, error);
  }
}

/**
 * Creates a new ledger for a batch with `--batch-id`; the ledger of the earlier run is kept until this run has recorded its
 * baseline.
 */
export async function createReplacementBatchLedger(
  path: string,
  batch: BatchDescriptionLedgerEvent,
  bootOf: ReadBootId,
  clock = systemClock,
): Promise<BatchLedger> {
  const lock = await acquireBatchLedgerLock(path, clock);
  const previous = previousPath(path);
  try {
    // The ledger of a run that was killed before its baseline contains less than the ledger of the run before it.
    const hasBegun = readBatchStateIfLedgerValid(path)?.baseline() !== undefined;
    if (existsSync(path) && (hasBegun || !existsSync(previous))) renameSync(path, previous);
    rmSync(path, { force: true });
    const replaced = readBatchStateIfLedgerValid(previous);
    createFileWithReservedSpace(path, encodeBatchLedgerEvent(batch), 0).close();
    const ledger = await openedLedger(path, lock, createBatchLedgerState(batch), bootOf);
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
    throw batchLedgerWriteError(path, error);
  }
}

function previousPath(path: string): string {
  return `${path}.previous`;
}

/**
 * A run with `--batch-id` that was killed before its baseline was recorded sent no request. The ledger of the earlier run is
 * then restored.
 */
function restorePrevious(path: string, { batch, baseline }: BatchLedgerState): boolean {
  if (batch.content_hash === undefined || baseline() !== undefined) return false;
  const previous = previousPath(path);
  if (readBatchStateIfLedgerValid(previous) === undefined) return false;
  renameSync(previous, path);
  return true;
}

/** Opens the ledger that an earlier process wrote. An incomplete last line of the ledger is removed. */
export async function openExistingBatchLedger(
  named: string,
  bootOf: ReadBootId,
  clock = systemClock,
): Promise<BatchLedger> {
  // The path is made absolute, because the resume command may be run in another folder.
  const path = resolve(named);
  requireReadable(path);
  const isLockNew = !existsSync(buildBatchLedgerLockPath(path));
  const lock = await acquireBatchLedgerLock(path, clock);
  try {
    // Another process may have deleted the ledger of a finished batch during the wait.
    requireReadable(path);
    const content = readBatchLedger(path);
    const { state, length, size } = restorePrevious(path, content.state) ? readBatchLedger(path) : content;
    // No request depends on an incomplete line, because lines on which a request depends are synced before the request is sent.
    if (length < size) truncateSync(path, length);
    const ledger = await openedLedger(path, lock, state, bootOf);
    const sendings = possiblySentRequestGroups(state, ledger.bootId);
    for (const sending of sendings.slice(0, -1)) ledger.record(sending);
    for (const last of sendings.slice(-1)) await ledger.commit(last);
    return ledger;
  } catch (error) {
    // If the file is not a ledger, or was deleted, its new lock file is removed.
    if (isLockNew || !existsSync(path)) rmSync(buildBatchLedgerLockPath(path), { force: true });
    lock.release();
    throw batchLedgerWriteError(path, error);
  }
}

/** The announced groups that may have been sent, because a reboot can lose their `sending` lines. */
export function possiblySentRequestGroups(
  state: BatchLedgerState,
  boot: string | undefined,
): readonly RequestGroupSendingLedgerEvent[] {
  return state.announced().flatMap((one) => (one.boot === boot ? [] : [one.sending]));
}

function requireReadable(path: string): void {
  const hint = 'use the path that the command printed on stderr when it started the batch';
  if (!existsSync(path)) throw usageError(`the ledger does not exist: ${path}`, hint);
  try {
    // Reading a pipe would block until another process writes to it.
    if (!statSync(path).isFile()) throw new Error('the path is not a file');
    accessSync(path, constants.R_OK);
  } catch (error) {
    throw usageError(
      `could not read the ledger: ${error instanceof Error ? error.message : String(error)}`,
      hint,
      path,
    );
  }
}

async function openedLedger(
  path: string,
  lock: HeldFileLock,
  state: BatchLedgerState,
  bootOf: ReadBootId,
): Promise<BatchLedger> {
  const boot = await bootOf(dirname(realpathSync(path)));
  const file = openBatchLedgerFile(path);
  let closing: Promise<void> | undefined;
  const record = (event: BatchLedgerEvent): void => {
    // The result of a request is applied to the state even if it could not be written to the file. A request whose `sending`
    // event could not be recorded is not sent.
    if (event.event !== 'sending') state.apply(event);
    file.append(encodeBatchLedgerEvent(event), event.event === 'created');
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
      file.append(encodeBatchLedgerEvent(event), false);
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
