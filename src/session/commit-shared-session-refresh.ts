import { interruptedError } from '../platform/defer-signals.ts';
import type { SignalName, Signals } from '../platform/host.ts';
import {
  compareSharedSessionVersions,
  type EncryptedSharedSession,
  type SharedSessionEntry,
  type SharedSessionOperation,
  type SharedSessionOperationResult,
} from '../shared-store/shared-session.ts';
import { catchSharedStoreUnavailable } from './catch-shared-store-unavailable.ts';
import type { CredentialItemWriteResult, CredentialStoreUnavailable, ReplacedSession } from './credential-store.ts';
import type { LocalSharedSessionCopyAccess } from './local-shared-session-copy.ts';
import type { SharedStoreUnavailable } from './refresh-claim.ts';
import type { SharedStoreClock } from './shared-store-clock.ts';

export interface SharedSessionCommitDeps {
  readonly run: (operation: SharedSessionOperation) => Promise<SharedSessionOperationResult>;
  readonly location: string;
  readonly machine: () => string;
  readonly clock: Pick<SharedStoreClock, 'elapsed' | 'sleep'>;
  /** How long a commit is repeated, in milliseconds. */
  readonly commitMs: number;
}

/** Repeats the commit of a refresh that failed, at most for `commitMs`. */
export async function commitSharedSessionRefresh(
  { run, location, machine, clock, commitMs }: SharedSessionCommitDeps,
  sealed: EncryptedSharedSession,
): Promise<SharedSessionOperationResult | SharedStoreUnavailable> {
  const end = clock.elapsed() + commitMs;
  for (; ; await clock.sleep(250)) {
    const result = await catchSharedStoreUnavailable(location, () =>
      run({ op: 'commit', by: machine(), event: 'refresh', ...sealed }),
    );
    if (!('kind' in result) || clock.elapsed() >= end) return result;
  }
}

/** A new epoch of the session, which a login or a logout begins. */
export interface NewSharedSessionEpoch {
  readonly event: 'login' | 'logout';
  /**
   * Reads the store, and encrypts the session for an epoch that is greater than every known one, unless it is already
   * encrypted. Returns a result instead if nothing is to be stored.
   */
  readonly prepare: (
    sealed?: EncryptedSharedSession,
  ) => Promise<PreparedSharedSessionEpoch | CredentialItemWriteResult>;
  /** The result if the store has another login or logout that is not older than this one. */
  readonly onSuperseded: (
    row: SharedSessionEntry | undefined,
    replaced: ReplacedSession | undefined,
  ) => CredentialItemWriteResult;
  /** Keeps the session as the copy of this machine; resolves with false if the copy could not be written. */
  readonly keep: LocalSharedSessionCopyAccess['keep'];
  /** The interruption of the command, after which a commit is not repeated. */
  readonly interruption: SharedSessionCommitInterruption;
}

export interface PreparedSharedSessionEpoch {
  readonly row: SharedSessionEntry | undefined;
  readonly sealed: EncryptedSharedSession;
  /** The newest session that this machine could decrypt before the commit. */
  readonly replaced: ReplacedSession | undefined;
}

export interface SharedSessionCommitInterruption {
  readonly signal: AbortSignal;
  /** The process signal that has arrived. */
  readonly name: () => SignalName | undefined;
}

/**
 * Stores a new epoch. If the result of a commit is not known, the store is read before the commit is repeated, at most for
 * `commitMs` and not after an interruption: another machine may have refreshed the session that is replaced. If the store has
 * another login or logout that is not older, that one stays, and no further epoch is tried: an earlier attempt may have been
 * stored and replaced. Throws `cancelled` if a signal arrived before anything was sent.
 */
export async function commitNewSharedSessionEpoch(
  { run, location, machine, clock, commitMs }: SharedSessionCommitDeps,
  { event, prepare, onSuperseded, keep, interruption }: NewSharedSessionEpoch,
): Promise<CredentialItemWriteResult> {
  const conclude = async (
    { applied, row }: Pick<SharedSessionOperationResult, 'applied' | 'row'>,
    { sealed, replaced }: PreparedSharedSessionEpoch,
  ): Promise<CredentialItemWriteResult> => {
    const isStored = applied || (row?.epoch === sealed.epoch && row.sid === sealed.sid);
    if (isStored) await keep(sealed);
    const result = isStored ? { kind: 'done' as const, replaced } : onSuperseded(row, replaced);
    if (result.kind === 'done') return { ...result, interruptedBy: interruption.name() };
    throwIfInterrupted(interruption);
    return result;
  };
  const end = clock.elapsed() + commitMs;
  let sent: PreparedSharedSessionEpoch | undefined;
  for (;;) {
    const known = sent?.sealed;
    const prepared = await catchSharedStoreUnavailable(location, () => prepare(known));
    if (sent === undefined) throwIfInterrupted(interruption);
    let failure: SharedStoreUnavailable | CredentialStoreUnavailable;
    if ('kind' in prepared) {
      if (sent === undefined || prepared.kind === 'done') return prepared;
      failure = prepared;
    } else {
      const { row, sealed } = prepared;
      const isOlder = row === undefined || compareSharedSessionVersions(row, sealed) === 'older';
      if (sent !== undefined && !isOlder) return conclude({ applied: false, row }, sent);
      const committed = await catchSharedStoreUnavailable(location, () =>
        run({ op: 'commit', by: machine(), event, ...sealed }),
      );
      if (!('kind' in committed)) return conclude(committed, prepared);
      if (sent === undefined && committed.isRejected) {
        throwIfInterrupted(interruption);
        return committed;
      }
      sent = prepared;
      failure = committed;
    }
    const isOver = clock.elapsed() >= end;
    if (!isOver) await clock.sleep(250, interruption.signal).catch(() => undefined);
    if (!isOver && !interruption.signal.aborted) continue;
    const { replaced, sealed } = sent;
    const isKept = await keep(sealed, {
      isUnconfirmed: true,
      ...(replaced === undefined ? {} : { hasReplaced: true }),
    });
    const unconfirmed = { event, isKept, replaced, interruptedBy: interruption.name() };
    return { kind: 'unavailable', why: 'shared', reason: failure.reason, unconfirmed };
  }
}

function throwIfInterrupted({ name }: SharedSessionCommitInterruption): void {
  const signal = name();
  if (signal !== undefined) throw interruptedError(signal);
}

/** Listens for signals until `stop` is called. */
export function listenForCommitInterruption(signals: Signals | undefined): {
  readonly interruption: SharedSessionCommitInterruption;
  readonly stop: () => void;
} {
  const controller = new AbortController();
  let caught: SignalName | undefined;
  const stop = signals?.listen((name) => {
    caught ??= name;
    controller.abort();
  });
  return { interruption: { signal: controller.signal, name: () => caught }, stop: stop ?? (() => undefined) };
}
