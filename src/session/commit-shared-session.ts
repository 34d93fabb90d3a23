import type { SignalName, Signals } from '../platform/host.ts';
import {
  compareSharedSessionVersions,
  type EncryptedSharedSession,
  type SharedSessionEvent,
  type SharedSessionOperation,
  type SharedSessionOperationResult,
} from '../shared-store/shared-session.ts';
import type { CredentialItemWriteResult, ReplacedSession } from './credential-store.ts';
import type { LocalSharedSessionCopyAccess } from './known-shared-copy.ts';
import type { SharedStoreUnavailable } from './refresh-claim.ts';
import type { SharedStoreClock } from './shared-store-clock.ts';
import { catchSharedStoreUnavailable } from './shared-store-failure.ts';

export interface CommitSharedSessionDeps {
  readonly run: (operation: SharedSessionOperation) => Promise<SharedSessionOperationResult>;
  readonly location: string;
  readonly machine: () => string;
  readonly clock: Pick<SharedStoreClock, 'elapsed' | 'sleep'>;
  /** How long a commit is repeated, in milliseconds. */
  readonly commitMs: number;
}

/** The snapshot after a commit that the store has answered. */
export interface SharedSessionCommitResult extends SharedSessionOperationResult {
  /** Whether an earlier attempt of this commit, whose result is not known, may have been applied. */
  readonly mayBeRepetition: boolean;
}

/**
 * Repeats a commit that failed, at most for `commitMs` and not after `interrupted`. A refresh is repeated after every failure,
 * another commit if an attempt may have been applied.
 */
export async function commitSharedSession(
  { run, location, machine, clock, commitMs }: CommitSharedSessionDeps,
  sealed: EncryptedSharedSession,
  event: SharedSessionEvent,
  interrupted?: AbortSignal,
): Promise<SharedSessionCommitResult | SharedStoreUnavailable> {
  const end = clock.elapsed() + commitMs;
  for (let isRejected = true; ; await clock.sleep(250, interrupted).catch(() => undefined)) {
    const result = await catchSharedStoreUnavailable(location, () =>
      run({ op: 'commit', by: machine(), event, ...sealed }),
    );
    if (!('kind' in result)) return { ...result, mayBeRepetition: !isRejected };
    isRejected &&= result.isRejected;
    const isOver = clock.elapsed() >= end || interrupted?.aborted === true;
    if (isOver || (isRejected && event !== 'refresh')) return { ...result, isRejected };
  }
}

/** A new epoch of the session, which a login or a logout begins. */
export interface NewSharedSessionEpoch {
  readonly event: 'login' | 'logout';
  /** Reads the store, and encrypts the session for an epoch that is greater than every known one. */
  readonly seal: () => Promise<SealedSharedSessionEpoch>;
  /** Keeps the session as the copy of this machine; resolves with false if the copy could not be written. */
  readonly keep: LocalSharedSessionCopyAccess['keep'];
  /** The interruption of the command, after which a commit is not repeated. */
  readonly interruption: SharedSessionCommitInterruption;
}

export interface SealedSharedSessionEpoch {
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
 * Stores a new epoch. Another login or logout at the same moment may write the same epoch number, so several are tried; the
 * session of the other one is then the replaced one. Throws the error of the store if nothing was sent.
 */
export async function commitNewSharedSessionEpoch(
  deps: CommitSharedSessionDeps,
  { event, seal, keep, interruption }: NewSharedSessionEpoch,
): Promise<CredentialItemWriteResult> {
  for (let attempt = 1; ; attempt += 1) {
    const { sealed, replaced } = await seal();
    const result = await commitSharedSession(deps, sealed, event, interruption.signal);
    if ('kind' in result) {
      if (result.isRejected) return result;
      const isKept = await keep(sealed, { isUnconfirmed: true });
      const { why, reason } = result;
      return {
        kind: 'unavailable',
        why,
        reason,
        unconfirmed: { event, isKept, replaced, interruptedBy: interruption.name() },
      };
    }
    const { applied, row, mayBeRepetition } = result;
    if (applied || (row !== undefined && compareSharedSessionVersions(row, sealed) === 'same')) {
      await keep(sealed);
      return { kind: 'done', replaced };
    }
    const isSuperseded = mayBeRepetition && row !== undefined && row.epoch > sealed.epoch;
    // The first attempt was stored, so another login or logout was later than this one, which must not replace it.
    if (isSuperseded && event === 'logout') return { kind: 'done', replaced };
    if (isSuperseded || attempt === 5) {
      const reason = `another login or logout is stored (epoch ${row?.epoch ?? 'unknown'})`;
      return { kind: 'unavailable', why: 'shared', reason };
    }
  }
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
