import { createHash } from 'node:crypto';
import { existsSync, lstatSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { usageError } from '../base/errors.ts';
import type { ActorIdentity } from '../base/identity.ts';
import type { ListView } from '../cli/columns.ts';
import { shortenInput } from '../cli/values.ts';
import { listFolder, requireWritableFolder } from '../platform/files.ts';
import type { HostSystem } from '../platform/host.ts';
import { type HeldLock, tryAcquire } from '../platform/locks.ts';
import { accountFields } from './account.ts';
import type { Batch } from './events.ts';
import {
  createLedgerAt,
  defaultPath,
  type Ledger,
  lockPathOf,
  type Machine,
  replaceLedger,
  tryReadState,
} from './ledger.ts';
import { encodeId } from './match.ts';
import { type BatchState, type Counts, isFinished } from './state.ts';

/** A ledger in the state folder. For a damaged ledger only `id`, `state` and `path` are known. */
interface StoredBatch extends Partial<Counts> {
  readonly id: string;
  /** `deleted` means that the droplets of the batch were deleted with `droplets batches delete`. */
  readonly state: 'running' | 'finished' | 'unfinished' | 'deleted' | 'damaged';
  readonly path: string;
  /** ISO 8601. */
  readonly started?: string;
  readonly profile?: string;
  readonly names?: number;
}

/**
 * Creates the ledger of a new batch, in the state folder unless there is a path, and deletes the ledgers of batches that ended
 * long ago. @param identity the account that starts the batch @param days for which ledgers are kept; 0 keeps all
 */
export async function startLedger(
  host: Machine & Pick<HostSystem, 'folders'>,
  batch: Batch,
  {
    path,
    identity,
    days,
  }: { readonly path: string | undefined; readonly identity: ActorIdentity; readonly days: number },
): Promise<Ledger> {
  const { state } = host.folders;
  if (days > 0) deleteOldLedgers(state, host.clock.now() - days * 86_400_000);
  const started = { ...batch, ...accountFields(identity) };
  if (path !== undefined) return createLedgerAt(path, started, host);
  if (batch.content_hash !== undefined) return replaceLedger(pathOfBatchId(state, batch), started, host);
  return createLedgerAt(defaultPath(state, batch.id), started, host);
}

/** Throws if no ledger can be written, so that a batch that cannot record what it sends ends before its first request. */
export function requireLedgerFolder({ folders }: Pick<HostSystem, 'folders'>, path: string | undefined): void {
  if (path === undefined)
    requireWritableFolder(
      join(folders.state, 'batches'),
      'set CLOUDCTL_STATE_DIR to a folder that you can write to, or pass `--ledger FILE`',
    );
  else requireWritableFolder(dirname(resolve(path)), 'pass `--ledger FILE` with a file that you can write to');
}

export const storedView: ListView<StoredBatch> = {
  columns: [
    { name: 'ID', value: (row) => row.id },
    { name: 'Started', value: (row) => row.started, kind: 'time' },
    { name: 'Profile', value: (row) => row.profile, priority: 3 },
    { name: 'State', value: (row) => row.state, kind: 'state' },
    { name: 'Names', value: (row) => row.names },
    { name: 'Created', value: (row) => row.created },
    { name: 'Failed', value: (row) => row.failed },
    { name: 'Unknown', value: (row) => row.unknown, priority: 1 },
    { name: 'Missing', value: (row) => row.missing, priority: 2 },
    { name: 'Skipped', value: (row) => row.skipped, priority: 3 },
    { name: 'Ledger', value: (row) => row.path, priority: 4 },
  ],
};

/** Lists the batches whose ledgers are in the state folder, newest first and damaged ones last. */
export function listBatches(stateFolder: string): readonly StoredBatch[] {
  return ledgerFiles(stateFolder)
    .flatMap((path) => describeStored(path) ?? [])
    .toSorted((left, right) => (right.started ?? '').localeCompare(left.started ?? ''));
}

/**
 * Returns the path of the ledger that an argument names, by batch id or as a file path. Throws a usage error when no ledger has
 * this id or path.
 */
export function findLedger(stateFolder: string, text: string): string {
  // A file in the current folder can have the same name as a batch id.
  const isPath = statSync(text, { throwIfNoEntry: false })?.isFile() === true;
  const found = isPath && !/^[\w-]+$/.test(text) ? [] : ledgersWithId(stateFolder, text);
  const [first, ...others] = found;
  if (first !== undefined && others.length === 0) return first;
  if (first === undefined && isPath) return resolve(text);
  throw usageError(
    first === undefined
      ? `no ledger has the batch id or path "${shortenInput(text)}"`
      : `${found.length} ledgers have the batch id "${shortenInput(text)}"`,
    first === undefined
      ? 'list the batches with `cloudctl droplets batches list`'
      : 'pass the path of one of these ledgers',
    first === undefined ? undefined : found.join(', '),
  );
}

function ledgersWithId(stateFolder: string, id: string): readonly string[] {
  const named = /^[\w-]+$/.test(id) ? defaultPath(stateFolder, id) : undefined;
  if (named !== undefined && isFile(named)) return [named];
  return ledgerFiles(stateFolder).filter((path) => tryReadState(path)?.batch.id === id.toLowerCase());
}

/** Deletes the ledgers of batches that ended before the given time, but not of running, unfinished or damaged batches. */
export function deleteOldLedgers(stateFolder: string, endedBefore: number): void {
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
  const lock = tryAcquire(lockPathOf(path));
  if (lock === undefined) return;
  try {
    // Another process may have continued the batch before this process acquired the lock.
    if (lstatSync(path).mtimeMs >= endedBefore || !isPrunable(path)) return;
    rmSync(path, { force: true });
    rmSync(lockPathOf(path), { force: true });
  } finally {
    lock.release();
  }
}

function isPrunable(path: string): boolean {
  const state = tryReadState(path);
  return state !== undefined && (isOver(state) || isDeleted(state));
}

/** The batch of a ledger; undefined when another process has deleted the ledger since the folder was read. */
function describeStored(path: string): StoredBatch | undefined {
  const state = tryReadState(path);
  const isRunning = isLocked(path);
  // A process that has locked a missing ledger is replacing it.
  if (!isRunning && !isFile(path)) return undefined;
  if (state === undefined) return { id: basename(path, extension), state: isRunning ? 'running' : 'damaged', path };
  const { id, at, profile, names } = state.batch;
  const described = { id, path, started: at, profile, names: names.length, ...state.counts() };
  if (isRunning) return { ...described, state: 'running' };
  if (isOver(state)) return { ...described, state: 'finished' };
  return { ...described, state: isDeleted(state) ? 'deleted' : 'unfinished' };
}

/** Whether another run would create no droplet: none is left, or the server refuses them all. */
function isOver(state: BatchState): boolean {
  return isFinished(state) || state.isRefused();
}

/** Whether every droplet of the batch was deleted together with the batch, and no name is left to create. */
function isDeleted({ batch, isDeleted, rowAt }: BatchState): boolean {
  let deleted = 0;
  for (let at = 0; at < batch.names.length; at++) {
    if (isDeleted(at)) deleted += 1;
    else if (rowAt(at).status !== 'skipped') return false;
  }
  return deleted > 0;
}

/** Whether a process is currently running the batch. */
function isLocked(path: string): boolean {
  let lock: HeldLock | undefined;
  try {
    const lockPath = lockPathOf(path);
    if (!existsSync(lockPath)) return false;
    lock = tryAcquire(lockPath);
    return lock === undefined;
  } catch {
    return false;
  } finally {
    lock?.release();
  }
}

const extension = '.jsonl';

function ledgerFiles(stateFolder: string): readonly string[] {
  const folder = dirname(defaultPath(stateFolder, 'any'));
  return listFolder(folder)
    .filter((name) => name.endsWith(extension))
    .map((name) => join(folder, name))
    .filter(isFile);
}

function isFile(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

/** The path of the ledger for a batch with `--batch-id`; each profile and server has a separate path. */
function pathOfBatchId(stateFolder: string, { id, profile, base_url }: Batch): string {
  const server = createHash('sha256')
    .update(JSON.stringify([profile, base_url]))
    .digest('hex')
    .slice(0, 8);
  return defaultPath(stateFolder, `id-${encodeId(id)}-${server}`);
}
