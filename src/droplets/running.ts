// Runs of this machine that may create droplets: `batches/running` has one entry for each, so that runs with common names see
// each other before they send anything (docs/decisions/012-batches.md).

import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Droplet } from '../api/droplets.ts';
import { CliError } from '../base/errors.ts';
import { compareAccounts, type TeamAccount } from '../base/identity.ts';
import {
  isJsonRecord,
  type JsonRecord,
  readNumberField,
  readStringField,
  readStringList,
  tryParseJson,
} from '../base/json.ts';
import { formatDuration } from '../base/text.ts';
import { isUnwritable, listFolder, readText, writeAtomically } from '../platform/files.ts';
import type { Clock, HostSystem } from '../platform/host.ts';
import { type HeldLock, tryAcquire } from '../platform/locks.ts';
import type { Batch } from './events.ts';
import { type Ledger, openLedger, tryReadState } from './ledger.ts';
import { originOf } from './match.ts';
import type { BatchState } from './state.ts';

/** For how long the names of a run that has ended are kept: lists may lag, and a request of a killed process may arrive late. */
const keptMs = 600_000;

/** What other runs on this machine have done with the names of a batch. */
export interface Others {
  /** Ids of droplets that they created, by name. */
  readonly created: ReadonlyMap<string, readonly string[]>;
  /** The time of the last request, in milliseconds, by name: it is not known whether it created a droplet. */
  readonly uncertain: ReadonlyMap<string, number>;
  /** Ids in `created` that a command of this machine has deleted since; undefined when there are none. */
  readonly gone?: ReadonlySet<string>;
}

/** What a lookup has shown of a name that another run may have sent. */
export interface Proof {
  /** No droplet had the name when the request could not arrive any more, and later. */
  readonly isAbsent: boolean;
  /** The droplets with this name; empty when the droplet belongs to the batch that looked. */
  readonly droplets: readonly Droplet[];
}

export const noOthers: Others = { created: new Map(), uncertain: new Map() };

/** The entry of this run, held until the process ends or `end` is called. */
export interface Entry {
  /**
   * What other runs have done with these names. With `--if-exists fail` another run with one of the names is `busy`; with
   * `skip` it is awaited. `create` asks for more droplets, so other runs do not matter.
   */
  settleOthers(options: WaitOptions): Promise<Others>;
  /** Writes what became of names into the ledgers of the ended runs that may have sent them, so that no later run waits for them. */
  settleNames(proofs: ReadonlyMap<string, Proof>): Promise<void>;
  /** Leaves the result of the run for the runs after it. Resolves with false if it could not be written: they read the ledger. */
  end(state: BatchState): Promise<boolean>;
}

interface WaitOptions {
  /** The longest wait for other runs in milliseconds. */
  readonly maxWait: number;
  readonly signal: AbortSignal;
  /** Called once when another run was awaited for 10 s. */
  readonly onWaiting: (text: string) => Promise<void>;
}

type Machine = Pick<HostSystem, 'clock' | 'folders'>;

/**
 * Registers a run under one lock and without a request. Numbers grow, and a run waits only for lower ones, so no two runs wait
 * for each other.
 */
export async function register(
  machine: Machine,
  { path: ledger, state: { batch }, replaced }: Pick<Ledger, 'path' | 'state' | 'replaced'>,
): Promise<Entry> {
  const folder = join(machine.folders.state, 'batches', 'running');
  // With `--ledger FILE` a batch needs no state folder, as in a container whose user has no home folder.
  if (isUnwritable(folder))
    return { settleOthers: async () => noOthers, settleNames: async () => {}, end: async () => true };
  const own = await locked(folder, machine.clock, () => {
    const numbers = listNumbers(folder);
    const number = Math.max(0, ...numbers) + 1;
    for (const other of numbers) {
      if (isOver(folder, other, machine.clock)) removeEntry(folder, other);
      else if (replaced !== undefined) keepReplaced(folder, other, ledger, replaced, machine.clock);
    }
    const lock = tryAcquire(lockPath(folder, number));
    // Only a holder of the lock of the folder locks an entry.
    if (lock === undefined) throw new CliError('busy', `could not lock ${lockPath(folder, number)}`);
    const content = { ...contentOf(batch), number, ledger, started: machine.clock.now() };
    writeEntry(folder, content);
    return { content, lock };
  });
  return {
    settleOthers: (options) => settleOthers(folder, own.content, machine.clock, options),
    settleNames: (proofs) => settleNames(folder, own.content, machine, proofs),
    async end(state) {
      try {
        await locked(folder, machine.clock, () =>
          writeEntry(folder, { ...own.content, ended: resultOf(state, machine.clock) }),
        );
        return true;
      } catch {
        return false;
      } finally {
        own.lock.release();
      }
    },
  };
}

/**
 * Notes in the entries of earlier runs which of their droplets were deleted, so that a later run does not read each of them. The ids
 * stay there: a list that lags may still show a deleted droplet, which no run may take for its own.
 */
export async function noteDeleted(
  { clock, folders }: Machine,
  baseUrl: string,
  ids: ReadonlySet<string>,
): Promise<void> {
  const folder = join(folders.state, 'batches', 'running');
  try {
    if (ids.size === 0 || listNumbers(folder).length === 0) return;
    await locked(folder, clock, () => {
      for (const number of listNumbers(folder)) {
        const entry = readEntry(folder, number);
        // Another server can have the same ids.
        if (entry?.baseUrl !== baseUrl) continue;
        const gone = resultOfEntry(entry, clock).created.flatMap(([, id]) => (ids.has(id) ? [id] : []));
        if (gone.length > 0) writeEntry(folder, { ...entry, gone: [...new Set([...(entry.gone ?? []), ...gone])] });
      }
    });
  } catch {
    // The droplets are deleted; without the note, a later run reads them.
  }
}

/** An entry in `batches/running`. Times are milliseconds. */
interface Content extends TeamAccount {
  readonly number: number;
  readonly names: readonly string[];
  readonly ledger: string;
  readonly baseUrl: string;
  readonly ifExists: string;
  /** The time in the first line of the ledger: another ledger may be at its path now. */
  readonly begun: string;
  readonly started: number;
  /** Written when the run ends; a process that was killed leaves its ledger instead. */
  readonly ended?: Result | undefined;
  /** Ids of its droplets that a command of this machine has deleted. */
  readonly gone?: readonly string[];
}

interface Result {
  readonly at: number;
  readonly created: readonly (readonly [name: string, id: string])[];
  readonly uncertain: readonly (readonly [name: string, sentAt: number])[];
}

function contentOf(batch: Batch) {
  return {
    names: batch.names,
    baseUrl: batch.base_url,
    accountUuid: batch.account,
    team: batch.team,
    ifExists: batch.if_exists,
    begun: batch.at,
  };
}

/** What a run has done, from the state of its ledger. */
function resultOf(state: BatchState, clock: Clock): Result {
  const at = clock.now();
  const created = [...state.rows()].flatMap((row) => (row.status === 'created' ? [[row.name, row.id] as const] : []));
  const uncertain = state
    .uncertainGroups()
    .flatMap(({ names, sentAt = at }) => names.map((name) => [name, sentAt] as const));
  return { at, created, uncertain };
}

async function settleOthers(
  folder: string,
  own: Content,
  clock: Clock,
  { maxWait, signal, onWaiting }: WaitOptions,
): Promise<Others> {
  if (own.ifExists === 'create') return noOthers;
  const started = clock.now();
  for (let isAnnounced = false; ; ) {
    signal.throwIfAborted();
    const { running, others } = await locked(folder, clock, () => {
      const earlier = listNumbers(folder)
        .filter((number) => number < own.number)
        .flatMap((number) => readEntry(folder, number) ?? unreadable(folder, number, own))
        .filter((other) => overlaps(other, own));
      const live = earlier.find((other) => isLive(folder, other.number));
      return { running: live, others: live === undefined ? combine(earlier, own, clock) : noOthers };
    });
    if (running === undefined) return others;
    const waited = clock.now() - started;
    if (own.ifExists === 'fail' || waited >= maxWait) throw busyError(running, own, clock, maxWait);
    if (waited >= noticeMs && !isAnnounced) {
      isAnnounced = true;
      await onWaiting(`Waiting for another run with the same names: ${describeRun(running, clock)}.`);
    }
    await clock.sleep(Math.min(pollMs, maxWait - waited), signal);
  }
}

const pollMs = 250;
const noticeMs = 10_000;

/** A run whose entry was removed or damaged while it runs may create any name. */
function unreadable(folder: string, number: number, own: Content): readonly Content[] {
  return isLive(folder, number) ? [{ ...own, number, ledger: 'unknown', begun: '', ended: undefined }] : [];
}

/** One server can have several addresses, but an account belongs to one server. */
function overlaps(other: Content, own: Content): boolean {
  const accounts = compareAccounts(other, own);
  if (accounts === 'different' || (accounts === 'unknown' && other.baseUrl !== own.baseUrl)) return false;
  const names = new Set(own.names);
  return other.names.some((name) => names.has(name));
}

function combine(others: readonly Content[], own: Content, clock: Clock): Others {
  const names = new Set(own.names);
  const created = new Map<string, string[]>();
  const uncertain = new Map<string, number>();
  const gone = new Set(others.flatMap((other) => other.gone ?? []));
  for (const other of others) {
    if (isSameRun(other, own)) continue;
    const result = resultOfEntry(other, clock);
    // A server that is started anew can give an id again.
    for (const [, id] of result.created) if (other.gone?.includes(id) !== true) gone.delete(id);
    for (const [name, id] of result.created) if (names.has(name)) created.set(name, [...(created.get(name) ?? []), id]);
    for (const [name, at] of result.uncertain)
      if (names.has(name)) uncertain.set(name, Math.max(at, uncertain.get(name) ?? 0));
  }
  return { created, uncertain, ...(gone.size === 0 ? {} : { gone }) };
}

/** What earlier runs with this ledger did is in its state. */
function isSameRun(other: Content, own: Content): boolean {
  return other.ledger === own.ledger && other.begun === own.begun;
}

async function settleNames(
  folder: string,
  own: Content,
  machine: Machine,
  proofs: ReadonlyMap<string, Proof>,
): Promise<void> {
  if (proofs.size === 0) return;
  const { clock } = machine;
  const isProven = ([name]: readonly [string, number]): boolean => proofs.has(name);
  const isEnded = (other: Content): boolean =>
    overlaps(other, own) && !isSameRun(other, own) && !isLive(folder, other.number);
  for (const number of listNumbers(folder)) {
    // Without the lock of the folder or the ledger, the next run looks the names up again.
    await locked(folder, clock, () => {
      const entry = readEntry(folder, number);
      return entry !== undefined && isEnded(entry) ? entry : undefined;
    })
      .then(async (entry) => {
        if (entry === undefined) return;
        const before = resultOfEntry(entry, clock);
        if (!before.uncertain.some(isProven)) return;
        const state = await settleLedger(entry, machine, proofs);
        const left = before.uncertain.filter((pair) => !isProven(pair));
        const ended =
          state === undefined ? { at: clock.now(), created: before.created, uncertain: left } : resultOf(state, clock);
        await locked(folder, clock, () => {
          if (readEntry(folder, number) !== undefined) writeEntry(folder, { ...entry, ended });
        });
      })
      .catch(() => {});
  }
}

/** Resolves with the state of the ledger of an ended run; undefined when that ledger was deleted or replaced. */
async function settleLedger(
  { ledger: path, begun }: Content,
  machine: Machine,
  proofs: ReadonlyMap<string, Proof>,
): Promise<BatchState | undefined> {
  if (tryReadState(path)?.batch.at !== begun) return undefined;
  const ledger = await openLedger(path, machine);
  const { state } = ledger;
  try {
    for (const { group, names, sentAfter, resend, error = lostText } of state.uncertainGroups()) {
      const rows = names.flatMap((name) => {
        const own = proofs.get(name)?.droplets.filter((one) => originOf(one, state, sentAfter).kind === 'ours') ?? [];
        const [first, ...more] = own;
        return first === undefined || more.length > 0 ? [] : [{ name, id: first.id }];
      });
      const absent = names.filter((name) => proofs.get(name)?.isAbsent === true);
      const left = names.filter((name) => !absent.includes(name) && !rows.some((row) => row.name === name));
      if (rows.length > 0) await ledger.commit({ event: 'created', group, adopted: true, rows });
      if (absent.length === 0) continue;
      // A failed group ends as a whole, so the names that are left keep it, with the time of their request.
      if (left.length > 0) await ledger.commit({ event: 'unknown', group, names: left, error, resend });
      await ledger.commit({
        event: 'failed',
        group: left.length > 0 ? state.nextGroup() : group,
        names: absent,
        error: absentText,
      });
    }
  } finally {
    await ledger.close();
  }
  return state;
}

const lostText = 'no complete response arrived';
const absentText = 'not created: a later run found no droplet when the request could not arrive any more';

function resultOfEntry(
  { ended, ledger, begun, names, started }: Content,
  clock: Clock,
): Pick<Result, 'created' | 'uncertain'> {
  if (ended !== undefined) return ended;
  const state = tryReadState(ledger);
  if (state?.batch.at === begun) return resultOf(state, clock);
  // Its ledger was deleted or replaced, so nothing tells what it has sent.
  return { created: [], uncertain: names.map((name) => [name, started] as const) };
}

/** Writes what a killed run has done into its entry, before its ledger is replaced by another one at the same path. */
function keepReplaced(folder: string, number: number, ledger: string, replaced: BatchState, clock: Clock): void {
  const entry = readEntry(folder, number);
  if (entry?.ledger !== ledger || entry.ended !== undefined || entry.begun !== replaced.batch.at) return;
  if (!isLive(folder, number)) writeEntry(folder, { ...entry, ended: resultOf(replaced, clock) });
}

/** Whether nothing of this run can surprise a later one: it has ended or died, and that was long ago. */
function isOver(folder: string, number: number, clock: Clock): boolean {
  const entry = readEntry(folder, number);
  if (entry !== undefined) {
    const { started, ended, ledger } = entry;
    const sent =
      ended === undefined
        ? [...resultOfEntry(entry, clock).uncertain.map(([, at]) => at), lastWrite(ledger)]
        : [ended.at];
    if (clock.now() - sent.reduce((latest, at) => Math.max(latest, at), started) < keptMs) return false;
  }
  return !isLive(folder, number);
}

/** When a ledger was last written, in milliseconds: a run may have created droplets until then. */
function lastWrite(ledger: string): number {
  return statSync(ledger, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/** Called only while the folder is locked: otherwise two callers could each take the other for the run. */
function isLive(folder: string, number: number): boolean {
  const lock = tryAcquire(lockPath(folder, number));
  lock?.release();
  return lock === undefined;
}

function busyError(other: Content, own: Content, clock: Clock, maxWait: number): CliError {
  const names = new Set(other.names);
  const common = own.names.filter((name) => names.has(name));
  const more = common.length > 20 ? ` and ${common.length - 20} more` : '';
  const waited = own.ifExists === 'fail' ? '' : `; --max-wait is ${formatDuration(maxWait)}`;
  return new CliError('busy', 'another run creates droplets with the same names', {
    detail: `${describeRun(other, clock)}; common names: ${common.slice(0, 20).join(', ')}${more}${waited}`,
    hint: 'run the command again when that run has ended',
  });
}

function describeRun({ ledger, started }: Content, clock: Clock): string {
  return `started ${formatDuration(Math.max(0, clock.now() - started))} ago, ledger ${ledger}`;
}

/** Runs `work` while no other process reads or changes the entries. */
async function locked<T>(folder: string, clock: Clock, work: () => T): Promise<T> {
  for (let left = lockWaitMs; ; left -= lockPauseMs) {
    const lock: HeldLock | undefined = tryAcquire(join(folder, 'lock'));
    if (lock !== undefined) {
      try {
        return work();
      } finally {
        lock.release();
      }
    }
    if (left <= 0)
      throw new CliError('busy', 'could not register the run: another process holds the lock', {
        detail: join(folder, 'lock'),
        hint: 'run the command again',
      });
    await clock.sleep(lockPauseMs);
  }
}

const lockWaitMs = 30_000;
const lockPauseMs = 20;

function lockPath(folder: string, number: number): string {
  return join(folder, `${number}.lock`);
}

function entryPath(folder: string, number: number): string {
  return join(folder, `${number}.json`);
}

function listNumbers(folder: string): readonly number[] {
  const numbers = listFolder(folder).flatMap((name) =>
    /^[1-9]\d{0,14}\.(?:json|lock)$/.test(name) ? [Number.parseInt(name, 10)] : [],
  );
  return [...new Set(numbers)];
}

function writeEntry(folder: string, content: Content): void {
  writeAtomically(entryPath(folder, content.number), `${JSON.stringify(content)}\n`);
}

function removeEntry(folder: string, number: number): void {
  rmSync(entryPath(folder, number), { force: true });
  rmSync(lockPath(folder, number), { force: true });
}

/** Undefined when the entry cannot be read; it then says nothing. */
function readEntry(folder: string, number: number): Content | undefined {
  try {
    const json = tryParseJson(readText(entryPath(folder, number)) ?? '');
    return json.ok && isJsonRecord(json.value) ? decodeEntry(json.value, number) : undefined;
  } catch {
    return undefined;
  }
}

function decodeEntry(record: JsonRecord, number: number): Content | undefined {
  const ledger = readStringField(record, 'ledger');
  const baseUrl = readStringField(record, 'baseUrl');
  const ifExists = readStringField(record, 'ifExists');
  const started = readNumberField(record, 'started');
  const begun = readStringField(record, 'begun');
  if (
    ledger === undefined ||
    baseUrl === undefined ||
    ifExists === undefined ||
    started === undefined ||
    begun === undefined
  )
    return undefined;
  return {
    ...{ number, ledger, baseUrl, ifExists, started, begun, names: readStringList(record.names) },
    accountUuid: readStringField(record, 'accountUuid'),
    team: readStringField(record, 'team'),
    ended: isJsonRecord(record.ended) ? decodeResult(record.ended) : undefined,
    gone: readStringList(record.gone),
  };
}

function decodeResult(record: JsonRecord): Result | undefined {
  const at = readNumberField(record, 'at');
  const { created, uncertain } = record;
  const isCreated = isPairsOf(created, (id): id is string => typeof id === 'string');
  const isUncertain = isPairsOf(uncertain, (time): time is number => typeof time === 'number');
  return at !== undefined && isCreated && isUncertain ? { at, created, uncertain } : undefined;
}

function isPairsOf<T>(
  value: unknown,
  is: (second: unknown) => second is T,
): value is readonly (readonly [string, T])[] {
  return (
    Array.isArray(value) && value.every((pair) => Array.isArray(pair) && typeof pair[0] === 'string' && is(pair[1]))
  );
}
