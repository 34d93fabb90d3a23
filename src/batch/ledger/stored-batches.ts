import { existsSync, lstatSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { shortenInputForError } from '../../cli/shorten-input-for-error.ts';
import { usageError } from '../../errors.ts';
import { type HeldFileLock, tryAcquireFileLock } from '../../platform/file-lock.ts';
import { listFolder } from '../../platform/files.ts';
import { isBatchFinished } from '../run-batch.ts';
import { buildBatchLedgerPath } from './batch-ledger.ts';
import { dropletDeletedWithBatchErrorText } from './batch-ledger-event.ts';
import { buildBatchLedgerLockPath } from './batch-ledger-lock.ts';
import type { BatchLedgerState, BatchStatusCounts } from './batch-ledger-state.ts';
import { readBatchStateIfLedgerValid } from './read-batch-ledger.ts';

/** A ledger in the state folder. For a damaged ledger only `id`, `state` and `path` are known. */
export interface StoredBatch extends Partial<BatchStatusCounts> {
  readonly id: string;
  /** `deleted` means that the droplets of the batch were deleted with `droplets batches delete`. */
  readonly state: 'running' | 'finished' | 'unfinished' | 'deleted' | 'damaged';
  readonly path: string;
  /** ISO 8601. */
  readonly started?: string;
  readonly profile?: string;
  readonly names?: number;
}

/** Lists the batches whose ledgers are in the state folder, newest first and damaged ones last. */
export function listStoredBatches(stateFolder: string): readonly StoredBatch[] {
  return ledgerFiles(stateFolder)
    .flatMap((path) => describeStoredBatch(path) ?? [])
    .toSorted((left, right) => (right.started ?? '').localeCompare(left.started ?? ''));
}

/**
 * Returns the path of the ledger that an argument names, by batch id or as a file path. Throws a usage error when no ledger has
 * this id or path.
 */
export function findBatchLedgerPath(stateFolder: string, text: string): string {
  // A file in the current folder can have the same name as a batch id.
  const found = /^[\w-]+$/.test(text) ? ledgersWithId(stateFolder, text) : [];
  const [first, ...others] = found;
  if (first !== undefined && others.length === 0) return first;
  if (first === undefined && statSync(text, { throwIfNoEntry: false })?.isFile() === true) return resolve(text);
  throw usageError(
    first === undefined
      ? `no ledger has the batch id or path "${shortenInputForError(text)}"`
      : `${found.length} ledgers have the batch id "${shortenInputForError(text)}"`,
    first === undefined
      ? 'list the batches with `cloudctl droplets batches list`'
      : 'pass the path of one of these ledgers',
    first === undefined ? undefined : found.join(', '),
  );
}

function ledgersWithId(stateFolder: string, id: string): readonly string[] {
  const named = buildBatchLedgerPath(stateFolder, id);
  if (isFile(named)) return [named];
  return ledgerFiles(stateFolder).filter((path) => readBatchStateIfLedgerValid(path)?.batch.id === id.toLowerCase());
}

/** Deletes the ledgers of batches that ended before the given time, but not of running, unfinished or damaged batches. */
export function deleteOldBatchLedgers(stateFolder: string, endedBefore: number): void {
  for (const path of ledgerFiles(stateFolder)) {
    try {
      if (lstatSync(path).mtimeMs < endedBefore) pruneLedger(path, endedBefore);
    } catch {
      // If the old ledger cannot be deleted, the error is ignored, because a new batch does not depend on it.
    }
  }
}

function pruneLedger(path: string, endedBefore: number): void {
  if (!isPrunable(path)) return;
  const lock = tryAcquireFileLock(buildBatchLedgerLockPath(path));
  if (lock === undefined) return;
  try {
    // Another process may have continued the batch before this process acquired the lock.
    if (lstatSync(path).mtimeMs >= endedBefore || !isPrunable(path)) return;
    rmSync(path, { force: true });
    rmSync(buildBatchLedgerLockPath(path), { force: true });
  } finally {
    lock.release();
  }
}

function isPrunable(path: string): boolean {
  const state = readBatchStateIfLedgerValid(path);
  return state !== undefined && (isBatchFinished(state) || isDeleted(state));
}

/** The batch of a ledger; undefined when another process has deleted the ledger since the folder was read. */
export function describeStoredBatch(path: string): StoredBatch | undefined {
  const state = readBatchStateIfLedgerValid(path);
  const isRunning = isLocked(path);
  // A process that has locked a missing ledger is replacing it.
  if (!isRunning && !isFile(path)) return undefined;
  if (state === undefined) return { id: basename(path, extension), state: isRunning ? 'running' : 'damaged', path };
  const { id, at, profile, names } = state.batch;
  const described = { id, path, started: at, profile, names: names.length, ...state.counts() };
  if (isRunning) return { ...described, state: 'running' };
  if (isBatchFinished(state)) return { ...described, state: 'finished' };
  return { ...described, state: isDeleted(state) ? 'deleted' : 'unfinished' };
}

/** Whether every droplet of the batch was deleted together with the batch, and no name is left to create. */
function isDeleted(state: BatchLedgerState): boolean {
  let deleted = 0;
  for (const row of state.rows()) {
    if (row.status === 'failed' && row.error === dropletDeletedWithBatchErrorText) deleted += 1;
    else if (row.status !== 'skipped') return false;
  }
  return deleted > 0;
}

/** Whether a process is currently running the batch. */
function isLocked(path: string): boolean {
  let lock: HeldFileLock | undefined;
  try {
    const lockPath = buildBatchLedgerLockPath(path);
    if (!existsSync(lockPath)) return false;
    lock = tryAcquireFileLock(lockPath);
    return lock === undefined;
  } catch {
    return false;
  } finally {
    lock?.release();
  }
}

const extension = '.jsonl';

function ledgerFiles(stateFolder: string): readonly string[] {
  const folder = dirname(buildBatchLedgerPath(stateFolder, 'any'));
  return listFolder(folder)
    .filter((name) => name.endsWith(extension))
    .map((name) => join(folder, name))
    .filter(isFile);
}

function isFile(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() === true;
}
